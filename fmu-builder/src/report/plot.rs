//! Charts as inline SVG. Colours and widths are the style sheet's; here are places only, rounded to a tenth of a pixel.

use super::escape;
use super::figures::{Curve, Spectrum};
use crate::quantity::format_duration;
use serde::Serialize;
use std::fmt::Write;

const WIDTH: f64 = 540.0;
pub(super) const LEFT: f64 = 62.0;
pub(super) const RIGHT: f64 = 528.0;

/// Where a trajectory and, below it, its deviation are drawn; the page's script draws into the same places.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Frame {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    low_top: f64,
    low_bottom: f64,
}

pub(super) const FRAME: Frame = Frame {
    width: WIDTH,
    height: 292.0,
    left: LEFT,
    right: RIGHT,
    top: 18.0,
    bottom: 168.0,
    low_top: 198.0,
    low_bottom: 252.0,
};

/// Smaller ones are zero, larger ones than its inverse leave a gap: arithmetic on the others is safe.
const TINY: f64 = 1e-250;

fn drawable(value: f64) -> bool {
    value.abs() < 1.0 / TINY
}

/// A linear axis: values to pixels, with ticks that people can read.
struct Axis {
    low: f64,
    high: f64,
    /// Pixels of `low` and `high`.
    from: f64,
    to: f64,
    ticks: Vec<(f64, String)>,
    /// What the labels leave out: a power of ten, an offset.
    note: String,
}

impl Axis {
    /// Over drawable values; `room` is the share of the range that is added at both ends.
    fn new(values: impl Iterator<Item = f64>, room: f64, from: f64, to: f64, ticks: usize) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|&value| drawable(value)) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let size = low.abs().max(high.abs());
        let pad = if size < TINY {
            1.0
        } else if high - low <= 1e-9 * size {
            0.1 * size
        } else {
            room * (high - low)
        };
        (low, high) = (low - pad, high + pad);
        let mut axis = Axis { low, high, from, to, ticks: Vec::new(), note: String::new() };
        // One tick alone gives no scale.
        for finer in [1, 2, 4] {
            axis.tick(finer * ticks);
            if axis.ticks.len() > 1 {
                break;
            }
        }
        axis
    }

    fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    fn tick(&mut self, about: usize) {
        let raw = (self.high - self.low) / about as f64;
        let power = 10f64.powf(raw.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|&step| step >= 0.999 * raw);
        let step = step.unwrap_or(10.0 * power);
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        if first.abs().max(last.abs()) > 1e15 {
            return;
        }
        let values: Vec<f64> = (0..=(last - first) as usize).map(|i| (first + i as f64) * step).collect();
        let size = values.iter().fold(0.0, |size, value| f64::max(size, value.abs()));
        // Labels of many digits say only how they end.
        let offset = if step < 1e-4 * size { values[0] } else { 0.0 };
        let size = if offset != 0.0 { self.high - self.low } else { size };
        let exponent = if !(1e-2..1e5).contains(&size) && size > 0.0 {
            (size.log10() / 3.0).floor() as i32 * 3
        } else {
            0
        };
        let scale = 10f64.powi(exponent);
        let decimals = (-(step / scale).log10().floor()).clamp(0.0, 12.0) as usize;
        self.ticks = values
            .iter()
            .map(|&value| (value, minus(format!("{:.decimals$}", (value - offset) / scale + 0.0))))
            .collect();
        self.note = if exponent != 0 { format!("×10{}", superscript(exponent)) } else { String::new() };
        if offset != 0.0 {
            self.note = format!("{offset} + {}", self.note).trim_end().to_string();
        }
    }
}

/// The accurate solution and the new FMU's above, their difference below, over one time axis.
pub fn curve(curve: &Curve) -> String {
    let Frame { height, top, bottom, low_top, low_bottom, .. } = FRAME;
    let deviation: Vec<f64> =
        curve.built.iter().zip(&curve.reference).map(|(built, reference)| built - reference).collect();
    let (factor, unit) = time_unit(&curve.times);
    let seconds: Vec<f64> = curve.times.iter().map(|time| time * factor).collect();
    let x = Axis::new(seconds.iter().copied(), 0.0, LEFT, RIGHT, 6);
    let both = curve.reference.iter().chain(&curve.built).copied();
    let y = Axis::new(both, 0.06, bottom, top, 4);
    let d = Axis::new(deviation.iter().copied().chain([0.0]), 0.1, low_bottom, low_top, 3);
    let mut out =
        open(height, &format!("{}: accurate solution, new FMU and their difference over time", curve.name));
    for (axis, top, bottom) in [(&y, top, bottom), (&d, low_top, low_bottom)] {
        levels(&mut out, axis);
        for (value, _) in &x.ticks {
            let _ = write!(out, "<path class=\"grid\" d=\"M{:.1} {top}V{bottom}\"/>", x.at(*value));
        }
        let (width, height) = (RIGHT - LEFT, bottom - top);
        let _ = writeln!(
            out,
            "<rect class=\"frame\" x=\"{LEFT}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>"
        );
    }
    let label = |axis: &Axis, what: &str| {
        let unit = curve.unit.as_deref().filter(|unit| !unit.is_empty() && *unit != "1");
        let parts = [what, axis.note.as_str(), unit.unwrap_or("")];
        escape(&parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "))
    };
    let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"{}\">{}</text>", top - 6.0, label(&y, ""));
    let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"{}\">{}</text>", low_top - 6.0, label(&d, "deviation"));
    line(&mut out, "reference", &x, &y, &seconds, &curve.reference);
    line(&mut out, "built", &x, &y, &seconds, &curve.built);
    let _ = write!(out, "<path class=\"zero\" d=\"M{LEFT} {:.1}H{RIGHT}\"/>", d.at(0.0));
    line(&mut out, "deviation", &x, &d, &seconds, &deviation);
    below(&mut out, &x, low_bottom, &format!("time in {unit}"));
    out.push_str("</svg>\n");
    out
}

/// Up to about here an axis of both signs is linear, and logarithmic beyond: what the axis is called says so.
const LINEAR: f64 = 0.1;
const SYMLOG: &str = "linear up to 0.1, then logarithmic";

/// hλ of the model, with the discs in which explicit Euler is stable and implicit Euler grows.
pub fn model_spectrum(spectrum: &Spectrum) -> String {
    let (top, bottom) = (14.0, 300.0);
    // Stiff models span many decades, of both signs.
    let warp = |value: f64| (value / LINEAR).asinh();
    let (mut left, mut right, mut high) = (2.5f64, 2.5f64, 1.5f64);
    for &(re, im) in &spectrum.model {
        (left, right, high) = (left.max(-re * 1.3), right.max(re * 1.3), high.max(im.abs() * 1.3));
    }
    let (left, right, high) = (warp(left.min(1e30)), warp(right.min(1e30)), warp(high.min(1e30)));
    let x = |value: f64| LEFT + (warp(value) + left) / (left + right) * (RIGHT - LEFT);
    let y = |value: f64| (top + bottom) / 2.0 - warp(value) / high * (bottom - top) / 2.0;
    let mut out = open(340.0, "eigenvalues of the model times the step, in the complex plane");
    let disc = |centre: f64| {
        let mut path = String::new();
        for i in 0..160 {
            let angle = i as f64 * std::f64::consts::TAU / 160.0;
            let _ = write!(
                path,
                "{}{:.1} {:.1}",
                if i == 0 { "M" } else { "L" },
                x(centre + angle.cos()),
                y(angle.sin())
            );
        }
        path + "Z"
    };
    let _ = writeln!(
        out,
        "<path class=\"stable\" d=\"{}\"/><path class=\"growing\" d=\"{}\"/>",
        disc(-1.0),
        disc(1.0)
    );
    let decades = |limit: f64| {
        let last = limit.min(80.0).sinh().log10() - 1.0;
        let (first, last) = (-1, last.floor() as i32);
        let stride = ((last - first) / 4 + 1).max(1);
        (0..).map(move |i| i * stride).take_while(move |&e| e <= last).collect::<Vec<_>>()
    };
    let name = |sign: &str, exponent: i32| match exponent {
        0 => format!("{sign}1"),
        1 => format!("{sign}10"),
        _ => format!("{sign}10{}", superscript(exponent)),
    };
    let mut marks = vec![(0.0, "0".to_string())];
    marks.extend(decades(left).iter().map(|&e| (-10f64.powi(e), name("−", e))));
    marks.extend(decades(right).iter().map(|&e| (10f64.powi(e), name("", e))));
    for (value, label) in &marks {
        let at = x(*value);
        let class = if *value == 0.0 { "zero" } else { "grid" };
        let _ = writeln!(
            out,
            "<path class=\"{class}\" d=\"M{at:.1} {top}V{bottom}\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
            bottom + 15.0
        );
    }
    let mut marks = vec![(0.0, "0".to_string())];
    for e in decades(high) {
        marks.extend([(10f64.powi(e), name("", e)), (-10f64.powi(e), name("−", e))]);
    }
    for (value, label) in &marks {
        let at = y(*value);
        let class = if *value == 0.0 { "zero" } else { "grid" };
        let _ = writeln!(
            out,
            "<path class=\"{class}\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    frame(&mut out, top, bottom);
    dots(&mut out, spectrum.model.iter().map(|&(re, im)| (x(re), y(im))));
    title_x(&mut out, bottom, &format!("real part of h λ ({SYMLOG})"));
    let _ = writeln!(
        out,
        "<text transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\">imaginary part of h λ ({SYMLOG})</text>",
        (top + bottom) / 2.0
    );
    out.push_str("</svg>\n");
    out
}

/// What one step multiplies disturbances by, with the unit circle.
pub fn step_spectrum(spectrum: &Spectrum) -> String {
    let (top, bottom) = (14.0, 300.0);
    let largest = spectrum.step.iter().fold(1.0, |largest, &(re, im)| f64::max(largest, re.hypot(im)));
    // Same scale in both directions.
    let reach = (1.12 * largest).clamp(1.15, 1e12);
    let unit = (bottom - top) / 2.0 / reach;
    let (cx, cy) = ((LEFT + RIGHT) / 2.0, (top + bottom) / 2.0);
    let wide = (RIGHT - LEFT) / 2.0 / unit;
    let x = Axis::new([-wide, wide].into_iter(), 0.0, LEFT, RIGHT, 9);
    let y = Axis::new([-reach, reach].into_iter(), 0.0, bottom, top, 5);
    let mut out = open(340.0, "amplification factors of one step, in the complex plane");
    let _ = writeln!(out, "<circle class=\"stable\" cx=\"{cx}\" cy=\"{cy}\" r=\"{unit:.1}\"/>");
    levels(&mut out, &y);
    for (value, _) in &x.ticks {
        let _ = write!(out, "<path class=\"grid\" d=\"M{:.1} {top}V{bottom}\"/>", x.at(*value));
    }
    let _ = writeln!(
        out,
        "<path class=\"zero\" d=\"M{LEFT} {cy}H{RIGHT}M{cx} {top}V{bottom}\"/><circle class=\"circle\" cx=\"{cx}\" cy=\"{cy}\" r=\"{unit:.1}\"/>"
    );
    frame(&mut out, top, bottom);
    dots(&mut out, spectrum.step.iter().map(|&(re, im)| (cx + unit * re, cy - unit * im)));
    below(&mut out, &x, bottom, "real part of μ");
    let _ = writeln!(
        out,
        "<text transform=\"translate(14 {cy}) rotate(-90)\" text-anchor=\"middle\">imaginary part of μ</text>"
    );
    out.push_str("</svg>\n");
    out
}

/// Step times on a logarithmic axis; `sorted` seconds, each with the number of steps that it stands for.
pub fn histogram(sorted: &[(f64, f64)], deadline: f64, deadline_name: &str) -> String {
    let (top, bottom) = (22.0, 190.0);
    let positive: Vec<(f64, f64)> = sorted.iter().copied().filter(|&(time, _)| time > 0.0).collect();
    let (Some(first), Some(last)) = (positive.first(), positive.last()) else { return String::new() };
    let low = (first.0.log10() - 0.15).min(last.0.log10() - 0.5);
    // The deadline is drawn where it is not out of sight.
    let with_deadline = deadline.log10() - last.0.log10() < 3.0;
    let high = f64::max(last.0.log10() + 0.15, if with_deadline { deadline.log10() + 0.15 } else { low });
    let x = |time: f64| LEFT + (time.log10() - low) / (high - low) * (RIGHT - LEFT);
    const BARS: usize = 72;
    let mut bars = [0.0; BARS];
    for &(time, weight) in &positive {
        let bar = ((time.log10() - low) / (high - low) * BARS as f64) as usize;
        bars[bar.min(BARS - 1)] += weight;
    }
    // Single steps must be seen beside a hundred thousand.
    let most = bars.iter().fold(1.0, |most, &count| f64::max(most, count));
    let scale = |count: f64| (1.0 + count).log10() / (1.0 + most).log10();
    let mut out = open(232.0, "how many steps took how long");
    let digits: &[f64] = if most < 50.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let decades = (0..=most.log10().floor() as i32).flat_map(|e| digits.iter().map(move |digit| (*digit, e)));
    for (digit, e) in decades.filter(|&(digit, e)| digit * 10f64.powi(e) <= most) {
        let at = bottom - scale(digit * 10f64.powi(e)) * (bottom - top);
        let label =
            if e < 3 { format!("{}", digit * 10f64.powi(e)) } else { format!("10{}", superscript(e)) };
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"{}\">steps</text>", top - 8.0);
    let width = (RIGHT - LEFT) / BARS as f64;
    let mut path = String::new();
    for (i, &count) in bars.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        let height = scale(count) * (bottom - top);
        let _ = write!(
            path,
            "M{:.1} {bottom}v-{height:.1}h{:.1}v{height:.1}z",
            LEFT + i as f64 * width,
            width - 1.0
        );
    }
    let _ = writeln!(out, "<path class=\"bar\" d=\"{path}\"/>");
    let span = high - low;
    let digits: &[f64] = if span < 1.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    for e in low.floor() as i32..=high.ceil() as i32 {
        for digit in digits {
            let time = digit * 10f64.powi(e);
            if (low..=high).contains(&time.log10()) {
                let at = x(time);
                let _ = writeln!(
                    out,
                    "<path class=\"grid\" d=\"M{at:.1} {bottom}v4\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                    bottom + 16.0,
                    format_duration(time)
                );
            }
        }
    }
    if with_deadline {
        let at = x(deadline);
        let (anchor, shift) = if at > 0.8 * WIDTH { ("end", -5.0) } else { ("start", 5.0) };
        let _ = writeln!(
            out,
            "<path class=\"mark\" d=\"M{at:.1} {top}V{bottom}\"/><text x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{deadline_name}</text>",
            at + shift,
            top + 12.0
        );
    }
    let _ = writeln!(out, "<path class=\"zero\" d=\"M{LEFT} {bottom}H{RIGHT}\"/>");
    title_x(&mut out, bottom, "computing time of a step");
    out.push_str("</svg>\n");
    out
}

pub(super) fn open(height: f64, what: &str) -> String {
    format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n",
        escape(what)
    )
}

pub(super) fn frame(out: &mut String, top: f64, bottom: f64) {
    let (width, height) = (RIGHT - LEFT, bottom - top);
    let _ = writeln!(
        out,
        "<rect class=\"frame\" x=\"{LEFT}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>"
    );
}

/// Horizontal lines with their values.
fn levels(out: &mut String, axis: &Axis) {
    for (value, label) in &axis.ticks {
        let at = axis.at(*value);
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
}

/// Values under a chart, and what they are.
fn below(out: &mut String, axis: &Axis, bottom: f64, what: &str) {
    for (value, label) in &axis.ticks {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
            axis.at(*value),
            bottom + 15.0
        );
    }
    let what = if axis.note.is_empty() { what.to_string() } else { format!("{what}, {}", axis.note) };
    title_x(out, bottom, &what);
}

pub(super) fn title_x(out: &mut String, bottom: f64, what: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{what}</text>",
        (LEFT + RIGHT) / 2.0,
        bottom + 33.0
    );
}

/// The time from `begin` to `end` under a chart.
pub(super) fn time_below(out: &mut String, begin: f64, end: f64, bottom: f64) {
    let (factor, unit) = time_unit(&[begin, end]);
    let axis = Axis::new([begin * factor, end * factor].into_iter(), 0.0, LEFT, RIGHT, 6);
    below(out, &axis, bottom, &format!("time in {unit}"));
}

/// A curve; what cannot be drawn leaves a gap.
fn line(out: &mut String, class: &str, x: &Axis, y: &Axis, times: &[f64], values: &[f64]) {
    let mut path = String::new();
    let mut pen = 'M';
    for (&time, &value) in times.iter().zip(values) {
        if drawable(value) {
            let _ = write!(path, "{pen}{:.1} {:.1}", x.at(time), y.at(value));
            pen = 'L';
        } else {
            pen = 'M';
        }
    }
    if !path.is_empty() {
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{path}\"/>");
    }
}

/// Dots inside the frame; those on one pixel are one.
fn dots(out: &mut String, places: impl Iterator<Item = (f64, f64)>) {
    let finite = places.filter(|(x, y)| x.is_finite() && y.is_finite());
    let mut places: Vec<(i64, i64)> =
        finite.map(|(x, y)| ((x * 2.0).round() as i64, (y * 2.0).round() as i64)).collect();
    places.sort_unstable();
    places.dedup();
    let mut path = String::new();
    for (x, y) in places {
        let _ = write!(path, "M{:.1} {:.1}h0", x as f64 / 2.0, y as f64 / 2.0);
    }
    let _ = writeln!(out, "<path class=\"dots\" d=\"{path}\"/>");
}

/// The unit in which the run is a handy number.
pub(super) fn time_unit(times: &[f64]) -> (f64, &'static str) {
    let span = match (times.first(), times.last()) {
        (Some(first), Some(last)) => last - first,
        _ => 1.0,
    };
    let units = [(1.0, "s"), (1e3, "ms"), (1e6, "µs")];
    units.into_iter().find(|(factor, _)| span * factor >= 0.5).unwrap_or((1e9, "ns"))
}

fn minus(text: String) -> String {
    text.replace('-', "−")
}

pub fn superscript(exponent: i32) -> String {
    let raised = |c| match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => char::from_u32('⁰' as u32 + c as u32 - '0' as u32).unwrap_or(c),
    };
    exponent.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> (Vec<String>, String) {
        let axis = Axis::new([low, high].into_iter(), 0.0, 0.0, 100.0, 4);
        (axis.ticks.into_iter().map(|tick| tick.1).collect(), axis.note)
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!(labels(0.0, 1.0).0, ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(-2.0, 2.0).0, ["−2", "−1", "0", "1", "2"]);
        assert_eq!(
            labels(0.0, 2e6),
            (["0.0", "0.5", "1.0", "1.5", "2.0"].map(String::from).to_vec(), "×10⁶".into())
        );
        assert_eq!(labels(0.0, 4e-7).1, "×10⁻⁹");
        let (ticks, note) = labels(101_325.0, 101_325.4);
        assert_eq!((ticks[0].as_str(), ticks[1].as_str(), note.as_str()), ("0.0", "0.1", "101325 +"));
    }

    /// Nothing that a model may compute makes a picture that cannot be drawn.
    #[test]
    fn odd_values_are_drawn_or_left_out() {
        for values in [
            vec![],
            vec![f64::NAN, f64::INFINITY],
            vec![0.0, 0.0],
            vec![f64::MAX, f64::MIN],
            vec![5e-324, 0.0],
            vec![1.0, f64::NAN, 2.0],
        ] {
            let times: Vec<f64> = (0..values.len()).map(|i| i as f64).collect();
            let one = Curve { times, reference: values.clone(), built: values, ..Curve::default() };
            let picture = curve(&one);
            assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
        }
    }
}
