//! The incidence matrix before and after ordering: as an SVG of bounded size, and as text for small models.
//!
//! Rows are derivatives, columns are states. Explicit rows are green, blocks red, cores dark red, fill grey.
//! Large patterns are drawn as a raster whose cells are the darker the more of them is filled.

use super::pattern::Pattern;
use crate::summary::count;
use fmu_runtime::plan::Elimination;
use std::fmt::Write;

/// Cells of the raster in each direction.
const CELLS: usize = 160;
/// Names are drawn up to this many rows.
const NAMED: usize = 60;
/// Text is drawn up to this many rows.
const TYPED: usize = 40;
/// Longer names lose their beginning.
const SHORT: usize = 22;
const BLOCK: &str = "#fbd5d5";
const CORE: &str = "#d25454";
/// Side of one panel: at most, at least, and of one cell of a small model.
const SIDE: f64 = 480.0;
const LEAST: f64 = 240.0;
const CELL: f64 = 30.0;
/// Room for the right panel's caption, and for the legend.
const CAPTION: f64 = 420.0;
const LEGEND: f64 = 640.0;

/// Before and after, side by side. `names` by state.
pub fn svg(title: &str, kept: &Pattern, elimination: &Elimination, names: &[String]) -> String {
    let n = kept.n();
    let longest = names.iter().map(|name| name.chars().count().min(SHORT)).max().unwrap_or(0);
    let margin = if n <= NAMED { 20.0 + 6.5 * longest as f64 } else { 20.0 };
    let side = (n as f64 * CELL).clamp(LEAST, SIDE);
    let second = 2.0 * margin + side.max(LEAST + 30.0) + 10.0;
    let width = (second + side + 10.0).max(second + CAPTION).max(margin + LEGEND);
    let height = side + 100.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 \
         {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n<text x=\"10\" y=\"22\" font-size=\"16\">{}</text>\n",
        escape(title)
    );
    let natural: Vec<u32> = (0..n as u32).collect();
    let tears: u32 = elimination.blocks.iter().map(|block| block.tears).sum();
    let loops = elimination.blocks.iter().filter(|block| block.size > 1);
    let after = format!(
        "in order of solution: {} explicit, {}, the largest of {}, {}",
        elimination.explicit,
        count(elimination.blocks.len(), "block"),
        loops.map(|block| block.size).max().unwrap_or(u32::from(!elimination.blocks.is_empty())),
        count(tears as usize, "tear"),
    );
    let entries = if kept.len() == 1 { "entry" } else { "entries" };
    let before = format!("in the model's order: {}, {} {entries}", count(n, "state"), kept.len());
    for (x, caption, order, solved) in
        [(margin, before, &natural, false), (second, after, &elimination.order, true)]
    {
        let _ = write!(
            out,
            "<text x=\"{x}\" y=\"44\">{}</text>\n<g transform=\"translate({x} 54)\">\n",
            escape(&caption)
        );
        panel(&mut out, kept, elimination, order, solved, side);
        if n <= NAMED {
            let size = (side / n.max(1) as f64).min(12.0);
            for (p, &state) in order.iter().enumerate() {
                let y = (p as f64 + 0.5) * side / n as f64 + 0.35 * size;
                let name = names.get(state as usize).map_or("", String::as_str);
                let short: String = name.chars().skip(name.chars().count().saturating_sub(SHORT)).collect();
                let _ = writeln!(
                    out,
                    "<text x=\"-4\" y=\"{y:.1}\" font-size=\"{size:.1}\" text-anchor=\"end\">{}</text>",
                    escape(&short)
                );
            }
        }
        out.push_str("</g>\n");
    }
    let legend = [
        ("#1f2d3d", "kept entry"),
        ("#c8d0d8", "fill"),
        ("#bfe3c0", "explicit row"),
        (BLOCK, "block"),
        (CORE, "tears, solved as a dense core"),
    ];
    for (i, (colour, text)) in legend.iter().enumerate() {
        let (x, y) = (margin + 110.0 * i as f64, side + 70.0);
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"12\" height=\"12\" fill=\"{colour}\"/><text x=\"{}\" \
             y=\"{}\">{text}</text>",
            x + 17.0,
            y + 11.0
        );
    }
    out.push_str("</svg>\n");
    out
}

fn panel(
    out: &mut String,
    kept: &Pattern,
    elimination: &Elimination,
    order: &[u32],
    solved: bool,
    side: f64,
) {
    let n = kept.n();
    let _ = writeln!(out, "<rect width=\"{side}\" height=\"{side}\" fill=\"#fafafa\" stroke=\"#999\"/>");
    if n == 0 {
        return;
    }
    let unit = side / n as f64;
    if solved {
        let explicit = elimination.explicit as usize;
        let high = explicit as f64 * unit;
        let _ = writeln!(out, "<rect width=\"{side}\" height=\"{high:.2}\" fill=\"#bfe3c0\"/>");
        for (first, size, colour) in squares(elimination, n) {
            let (at, wide) = (first as f64 * unit, size as f64 * unit);
            let _ = writeln!(
                out,
                "<rect x=\"{at:.2}\" y=\"{at:.2}\" width=\"{wide:.2}\" height=\"{wide:.2}\" \
                 fill=\"{colour}\"/>"
            );
        }
        let rows = elimination.row_start.windows(2).enumerate();
        let slots = rows.flat_map(|(p, ends)| {
            let columns = &elimination.cols[ends[0] as usize..ends[1] as usize];
            columns.iter().map(move |&c| (p + explicit, c as usize))
        });
        raster(out, n, slots, "200,208,216", side);
    }
    let mut position = vec![0; n];
    for (p, &state) in order.iter().enumerate() {
        position[state as usize] = p;
    }
    raster(out, n, kept.places().map(|(i, j)| (position[i], position[j])), "31,45,61", side);
    if n <= NAMED {
        let mut path = String::new();
        for i in 1..n {
            let at = i as f64 * unit;
            let _ = write!(path, "M0 {at:.2}H{side}M{at:.2} 0V{side}");
        }
        let _ = writeln!(out, "<path stroke=\"#fff\" stroke-opacity=\"0.6\" fill=\"none\" d=\"{path}\"/>");
    }
    if solved {
        // Full blocks would hide their colour.
        for (first, size, colour) in squares(elimination, n).filter(|&(_, size, _)| size > 1) {
            let (at, wide) = (first as f64 * unit, size as f64 * unit);
            let _ = writeln!(
                out,
                "<rect x=\"{at:.2}\" y=\"{at:.2}\" width=\"{wide:.2}\" height=\"{wide:.2}\" fill=\"none\" \
                 stroke=\"{}\" stroke-width=\"1.5\"/>",
                if colour == CORE { CORE } else { "#e88080" }
            );
        }
    }
}

/// Blocks, each with its core after it: first position, size, colour. Smaller ones than a hundredth of the
/// least cell are not to be seen.
fn squares(elimination: &Elimination, n: usize) -> impl Iterator<Item = (usize, usize, &'static str)> {
    let mut first = elimination.explicit as usize;
    let both = elimination.blocks.iter().flat_map(move |block| {
        let (at, size, tears) = (first, block.size as usize, block.tears as usize);
        first += size;
        [(at, size, BLOCK), (at + size - tears, tears, CORE)]
    });
    both.filter(move |&(_, size, _)| size > 0 && (n <= 1000 || size * 2000 >= n))
}

/// One path per shade; neighbours in a row are one stroke.
fn raster(out: &mut String, n: usize, places: impl Iterator<Item = (usize, usize)>, rgb: &str, side: f64) {
    let cells = n.min(CELLS);
    let mut count = vec![0u32; cells * cells];
    for (i, j) in places {
        count[i * cells / n * cells + j * cells / n] += 1;
    }
    // A cell of k x k places shows a full diagonal as half dark, a full cell as dark.
    let across = n.div_ceil(cells) as f64;
    let shade = |count: u32| match f64::from(count) / across {
        0.0 => 0,
        part if part < 0.5 => 1,
        part if part < 2.0 && across > 1.0 => 2,
        _ => 3,
    };
    for level in 1..=3 {
        let mut path = String::new();
        for (i, row) in count.chunks(cells).enumerate() {
            let mut j = 0;
            while j < cells {
                let run = row[j..].iter().take_while(|&&c| shade(c) == level).count();
                if run > 0 {
                    let _ = write!(path, "M{j} {i}h{run}v1h-{run}z");
                }
                j += run.max(1);
            }
        }
        if !path.is_empty() {
            let (scale, opacity) = (side / cells as f64, [0.0, 0.35, 0.65, 1.0][level]);
            let _ = writeln!(
                out,
                "<path transform=\"scale({scale:.4})\" fill=\"rgb({rgb})\" fill-opacity=\"{opacity}\" \
                 d=\"{path}\"/>"
            );
        }
    }
}

/// For HTML and XML, in text and in attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Not allowed in XML at all.
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// The matrix in order of solution with one letter per place, for up to 40 states. Lines separate the blocks.
pub fn text(kept: &Pattern, elimination: &Elimination, names: &[String]) -> Option<String> {
    let n = kept.n();
    if n > TYPED {
        return None;
    }
    let explicit = elimination.explicit as usize;
    let mut place = vec![0; n];
    for (p, &state) in elimination.order.iter().enumerate() {
        place[state as usize] = p;
    }
    // Block and whether it is in the core, by position.
    let mut kind = vec![(0, false); explicit];
    for (b, block) in elimination.blocks.iter().enumerate() {
        kind.extend((0..block.size).map(|i| (b + 1, i + block.tears >= block.size)));
    }
    let mut cells = vec![vec!['.'; n]; n];
    for (p, ends) in elimination.row_start.windows(2).enumerate() {
        for &c in &elimination.cols[ends[0] as usize..ends[1] as usize] {
            cells[p + explicit][c as usize] = if p + explicit == c as usize { '1' } else { '+' };
        }
    }
    for (i, j) in kept.places() {
        cells[place[i]][place[j]] = 'x';
    }
    let name = |p: usize| names.get(elimination.order[p] as usize).map_or("", String::as_str);
    let width = (0..n).map(|p| name(p).chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for p in 0..n {
        if p > 0 && kind[p].0 != kind[p - 1].0 {
            let _ = writeln!(out, "{} {}", " ".repeat(width + 7), "-".repeat(2 * n));
        }
        let role = match kind[p] {
            (0, _) => "expl.",
            (_, true) => "tear",
            _ => "",
        };
        let _ = write!(out, "{:>width$} {role:<6}", name(p));
        for (c, cell) in cells[p].iter().enumerate() {
            let edge = if c > 0 && kind[c].0 != kind[c - 1].0 { '|' } else { ' ' };
            let _ = write!(out, "{edge}{cell}");
        }
        out.push('\n');
    }
    out.push_str("x kept entry, 1 diagonal, + fill, . none; the rows of a block are solved together\n");
    Some(out)
}

/// The matrix in the model's order, for up to 40 states.
pub fn text_before(kept: &Pattern, names: &[String]) -> Option<String> {
    let n = kept.n();
    if n > TYPED {
        return None;
    }
    let name = |row: usize| names.get(row).map_or("", String::as_str);
    let width = (0..n).map(|row| name(row).chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for row in 0..n {
        let _ = write!(out, "{:>width$} {:<6}", name(row), "");
        for col in 0..n {
            let _ = write!(out, " {}", if kept.find(row, col).is_some() { 'x' } else { '.' });
        }
        out.push('\n');
    }
    Some(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{super::eliminate, *};

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("<x{i}>")).collect()
    }

    fn rod(n: usize) -> Pattern {
        Pattern::varying(n, (0..n).flat_map(|i| (i.saturating_sub(1)..(i + 2).min(n)).map(move |j| (i, j))))
    }

    /// Elements closed, names escaped, every state named on both sides.
    #[test]
    fn small_models_are_named() {
        let pattern = Pattern::varying(3, [(1, 2), (2, 1), (2, 0)]);
        let e = eliminate(&pattern, 0.1, &[]);
        let picture = svg("a < b & c", &pattern, &e, &names(3));
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
        assert!(picture.contains("a &lt; b &amp; c") && !picture.contains("<x0>"));
        assert_eq!(picture.matches("&lt;x1&gt;").count(), 2);
        assert!(picture.contains("1 explicit, 1 block, the largest of 2, no tears"));
        // Strokes: rows 1 and 2 have one entry and two neighbours, before and after; two full rows of slots.
        assert_eq!(picture.matches("h1v1h-1z").count(), 1 + 1);
        assert_eq!(picture.matches("h2v1h-2z").count(), 1 + 1 + 2);
        assert!(svg("", &rod(0), &eliminate(&rod(0), 0.1, &[]), &[]).ends_with("</svg>\n"));
    }

    #[test]
    fn text_shows_blocks_and_fill() {
        // An arrow that points the wrong way has no fill once its head goes last; a ring has.
        let ring = Pattern::varying(4, (0..4).flat_map(|i| [(i, (i + 1) % 4), (i, (i + 3) % 4)]));
        let picture = text(&ring, &eliminate(&ring, 0.1, &[]), &names(4)).unwrap();
        assert_eq!(picture.lines().next().unwrap().matches('x').count(), 3, "{picture}");
        assert_eq!(picture.matches('+').count(), 2 + 1, "one pair of fill, one in the legend\n{picture}");
        assert!(text(&rod(41), &eliminate(&rod(41), 0.1, &[]), &names(41)).is_none());
    }

    /// A slow state, then a loop of two.
    #[test]
    fn three_states_as_text() {
        let pattern = Pattern::varying(3, [(0, 1), (1, 0), (1, 2)]);
        let names = ["x", "v", "slow"].map(String::from);
        assert_eq!(
            text_before(&pattern, &names).unwrap(),
            "   x        . x .\n   v        x . x\nslow        . . .\n"
        );
        let picture = text(&pattern, &eliminate(&pattern, 0.1, &[]), &names).unwrap();
        let rows: Vec<&str> = picture.lines().collect();
        assert_eq!(rows[0], "slow expl.  .|. .");
        assert_eq!(rows[1].trim(), "------");
        assert_eq!(rows.len(), 1 + 1 + 2 + 1, "{picture}");
        assert!(text_before(&rod(41), &[]).is_none());
    }

    /// The file of a rod of 10,000 cells, or of a full matrix, stays small.
    #[test]
    fn pictures_are_bounded() {
        for pattern in [rod(10_000), Pattern::varying(300, (0..90_000).map(|k| (k / 300, k % 300)))] {
            let e = eliminate(&pattern, 0.1, &[]);
            let picture = svg("large", &pattern, &e, &names(pattern.n()));
            assert!(picture.len() < 400_000, "{} bytes", picture.len());
        }
    }
}
