//! Outputs that are no Reals: for how much of the time they are wrong, and how late they switch.

use serde::Serialize;

/// How far one output is from the accurate solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Switching {
    /// Share of the time in which its value is another.
    pub share: f64,
    /// The longest that it is another at a stretch, in communication steps: a switch comes so much later, or earlier. Up to one step is a switch at
    /// the same time but for rounding.
    pub delay: u64,
}

impl Switching {
    /// The larger ones.
    pub fn most(self, other: Switching) -> Switching {
        Switching { share: self.share.max(other.share), delay: self.delay.max(other.delay) }
    }
}

/// Of each output; two points lie `every` communication steps apart.
pub fn switching(reference: &[Vec<i64>], simulated: &[Vec<i64>], every: u64) -> Vec<Switching> {
    let points = reference.len().min(simulated.len()).max(1);
    let outputs = reference.first().map_or(0, Vec::len);
    let of = |output: usize| {
        let (mut wrong, mut stretch, mut longest) = (0, 0, 0);
        for (a, b) in reference.iter().zip(simulated) {
            stretch = if a[output] == b[output] { 0 } else { stretch + 1 };
            wrong += usize::from(stretch > 0);
            longest = u64::max(longest, stretch);
        }
        Switching { share: wrong as f64 / points as f64, delay: longest * every }
    };
    (0..outputs).map(of).collect()
}

/// Keep the larger ones of each output.
pub fn merge(known: &mut Vec<Switching>, new: Vec<Switching>) {
    known.resize(known.len().max(new.len()), Switching::default());
    known.iter_mut().zip(new).for_each(|(known, new)| *known = known.most(new));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One output is right, one wrong at two points in a row and once more, of ten points that lie three steps apart.
    #[test]
    fn wrong_for_a_share_of_the_time_and_late_by_the_longest_stretch() {
        let reference = vec![vec![1, 7]; 10];
        let mut simulated = reference.clone();
        for (point, value) in [(3, 8), (4, 9), (8, 8)] {
            simulated[point][1] = value;
        }
        let found = switching(&reference, &simulated, 3);
        assert_eq!(found, [Switching::default(), Switching { share: 0.3, delay: 6 }]);
        assert!(switching(&[], &[], 1).is_empty());
        let mut known = vec![Switching { share: 0.5, delay: 1 }];
        merge(&mut known, found);
        assert_eq!(known, [Switching { share: 0.5, delay: 1 }, Switching { share: 0.3, delay: 6 }]);
    }
}
