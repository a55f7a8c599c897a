//! How two accurate solutions of one run part: by an event that comes at another time, or on and on, as in a chaotic model.
//!
//! Compared as the certificate compares, root mean square over range, but each value may come a point early or late. In a chaotic model the distance grows
//! exponentially, from window to window of the run, until it is as large as the range; two solutions that part at one event lie apart by the same
//! distance from then on, and a phase that drifts grows with time, not exponentially.

use crate::deviation::{Ranges, largest};

/// Windows of the run, up to where the distance is as large as it gets.
const WINDOWS: usize = 8;
/// Part of the range at which it cannot grow much more.
const SATURATED: f64 = 0.05;
/// A window in which the distance is this many times that of all before it has grown, and so many of them are growth that goes on.
const FACTOR: f64 = 2.0;
const GROWING: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parting {
    /// The largest distance of a quantity, relative to its range.
    pub distance: f64,
    /// It grows on and on: nobody can follow this run to its end.
    pub grows: bool,
}

/// Of a solution, `ranges` of it, from another one.
pub fn parting(ranges: &Ranges, one: &[Vec<f64>], other: &[Vec<f64>]) -> Option<Parting> {
    let points = one.len().min(other.len());
    let distance = largest(&ranges.errors_but_for_lateness(one, other))?;
    let distances: Vec<[f64; 2]> = (0..points).map(|point| ranges.distances(one, other, point)).collect();
    // A jump that comes a point late is not what the distance has grown to; between jumps it is seen as it is, however small.
    let reached = distances.iter().position(|distance| distance[1] > SATURATED).map_or(points, |at| at + 1);
    let length = reached.div_ceil(WINDOWS).max(1);
    let windows = distances[..reached].chunks(length).map(|window| {
        let squares: f64 = window.iter().map(|distance| distance[0].powi(2)).sum();
        (squares / window.len() as f64).sqrt()
    });
    let (mut growing, mut most) = (0, 0.0);
    for (window, distance) in windows.enumerate() {
        growing += usize::from(window > 0 && distance > FACTOR * most);
        most = f64::max(most, distance);
    }
    Some(Parting { distance, grows: growing >= GROWING })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of 1000 points with range 1, and one beside it at this distance.
    fn tried(distance: impl Fn(f64) -> f64) -> Parting {
        let time = |k: usize| k as f64 / 1000.0;
        let one: Vec<Vec<f64>> = (0..=1000).map(|k| vec![(20.0 * time(k)).sin() / 2.0]).collect();
        let other: Vec<Vec<f64>> =
            one.iter().enumerate().map(|(k, x)| vec![x[0] + distance(time(k))]).collect();
        parting(&Ranges::of(&one, &[]), &one, &other).expect("two runs of a thousand points")
    }

    /// e^(30 t) from 1e-8 on, over a part of the run or over all of it, is chaos; a jump, a drift or a growth that ends is none.
    #[test]
    fn only_growth_that_goes_on_is_chaos() {
        assert!(tried(|t| (1e-8 * (30.0 * t).exp()).min(0.5)).grows);
        assert!(tried(|t| (1e-8 * (100.0 * t).exp()).min(0.5)).grows);
        assert!(!tried(|t| if t < 0.4 { 1e-8 } else { 0.4 }).grows);
        assert!(!tried(|t| 0.3 * t).grows);
        assert!(!tried(|t| 1e-8 * (1.0 + t)).grows);
        let late = tried(|t| if t % 0.1 < 1e-9 { 0.5 } else { 1e-8 });
        assert!(!late.grows, "{late:?}");
        let jump = tried(|t| if t < 0.4 { 1e-8 } else { 0.04 });
        // 0.04 over six tenths of the run, less what a point early or late explains: 0.01 where the sine is steepest.
        let (least, most) = (0.03 * 0.6f64.sqrt(), 0.04 * 0.6f64.sqrt());
        assert!(!jump.grows && (least..most).contains(&jump.distance), "{jump:?}");
    }
}
