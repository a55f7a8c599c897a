//! What the repairs leave behind: a warning for the user, and what had to go, kept for the record.

use crate::tree::{Element, Node};

/// Collected while a document is repaired.
#[derive(Default)]
pub(crate) struct Notes {
    pub warnings: Vec<String>,
    /// What the schema has no place for: it moves into a vendor annotation, so that nothing is lost.
    pub kept: Vec<Element>,
    /// The `ScalarVariable` that is being read.
    pub variable: Option<String>,
}

impl Notes {
    /// `<Real> of variable "x" (line 7): start="1,5" …`
    pub fn warn(&mut self, element: &str, line: usize, what: &str) {
        let whose = match &self.variable {
            Some(name) if element == "ScalarVariable" => format!("<ScalarVariable> \"{name}\""),
            Some(name) => format!("<{element}> of variable \"{name}\""),
            None => format!("<{element}>"),
        };
        self.warnings.push(format!("{whose} (line {line}): {what}"));
    }

    pub fn keep_attribute(&mut self, element: &str, name: &str, value: &str) {
        let mut kept = self.kept("Attribute", element);
        kept.set("name", name);
        kept.set("value", value);
        self.kept.push(kept);
    }

    pub fn keep_element(&mut self, parent: &str, element: Element) {
        let mut kept = self.kept("Element", parent);
        kept.children.push(Node::Element(element));
        self.kept.push(kept);
    }

    pub fn keep_text(&mut self, parent: &str, text: &str) {
        let mut kept = self.kept("Text", parent);
        kept.children.push(Node::Text(text.to_string()));
        self.kept.push(kept);
    }

    fn kept(&self, what: &str, of: &str) -> Element {
        let mut kept = Element::new(what, &[("of", of)]);
        if let Some(variable) = &self.variable {
            kept.set("variable", variable);
        }
        kept
    }
}
