//! What a study has to say of its run, each kind once: a remark is the same at every sample, its time apart.

use crate::warning::StudyRemark;
use std::mem::discriminant;

#[derive(Default)]
pub struct Remarks(pub Vec<StudyRemark>);

impl Remarks {
    /// Keep the first remark of each kind.
    pub fn add(&mut self, remark: StudyRemark) {
        let same = |known: &StudyRemark| discriminant(known) == discriminant(&remark);
        if !self.0.iter().any(same) {
            self.0.push(remark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remarks are told apart by what they say, not by how long their sentences are: "of p" and "at t = 2"
    /// may be equally long and must both stay, and one kind at t = 0.5 and at t = 0.25 is one remark.
    #[test]
    fn different_remarks_stay_and_equal_ones_merge() {
        let traces = StudyRemark::KeepsTraces { time: 0.5 };
        let length = traces.to_string().len();
        let words = StudyRemark::FewDigits { output: String::new() }.to_string().len();
        let digits = StudyRemark::FewDigits { output: "p".repeat(length - words) };
        assert_eq!(digits.to_string().len(), length);
        let mut remarks = Remarks::default();
        for remark in [traces.clone(), digits.clone(), StudyRemark::KeepsTraces { time: 0.25 }] {
            remarks.add(remark);
        }
        assert_eq!(remarks.0, [traces, digits]);
    }
}
