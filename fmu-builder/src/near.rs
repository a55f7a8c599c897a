//! The nearest name to a misspelt one, as a hint.

/// How like two names must be.
const LIKE: f64 = 0.7;

/// The same but for case or a path before it, or one that differs by little.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let same = names.clone().find(|other| {
        let other = other.to_lowercase();
        other == lower || other.ends_with(&format!(".{lower}")) || lower.ends_with(&format!(".{other}"))
    });
    let likeness = |other: &str| strsim::normalized_damerau_levenshtein(&lower, &other.to_lowercase());
    same.or_else(|| {
        let best = names.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
        (likeness(best) >= LIKE).then_some(best)
    })
}

/// As the end of a sentence; empty if nothing is near.
pub fn did_you_mean<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    nearest(name, names).map_or(String::new(), |near| format!("; did you mean {near}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_paths_and_typing_errors_are_forgiven() {
        let names = ["motor.torque", "T_load", "speed"];
        let near = |name| nearest(name, names.into_iter());
        assert_eq!(near("t_LOAD"), Some("T_load"));
        assert_eq!(near("torque"), Some("motor.torque"));
        assert_eq!(near("plant.speed"), Some("speed"));
        assert_eq!(near("sped"), Some("speed"));
        assert_eq!(near("voltage"), None);
    }
}
