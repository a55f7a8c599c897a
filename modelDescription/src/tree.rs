//! An XML document as a tree that keeps everything: order, comments, white space, unknown names.
//!
//! Edits are made here and not on the typed view, so that what was not asked to change stays as it is.
//!
//! In: `parse`. Out: `write`. Depth is limited by `parse`, so recursion over a tree is safe.

/// A document: the root and what stands before and behind it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    pub prolog: Vec<Node>,
    pub root: Element,
    pub epilog: Vec<Node>,
}

/// Character data is held decoded: `&lt;` is `<` here.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Element(Element),
    Text(String),
    CData(String),
    Comment(String),
    Instruction(String),
    Doctype(String),
}

/// An element; `name` and attribute names carry their prefix, if any.
#[derive(Debug, Clone, Default)]
pub(crate) struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Node>,
    /// Of the opening tag, from 1; 0 if the element is not from the file.
    pub line: usize,
}

/// Lines are not content: a document written and read again has others.
impl PartialEq for Element {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.attributes == other.attributes && self.children == other.children
    }
}

impl Element {
    pub fn new(name: &str, attributes: &[(&str, &str)]) -> Self {
        let attributes = attributes.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        Element { name: name.to_string(), attributes, children: Vec::new(), line: 0 }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// As `get`, but a prefix and upper or lower case do not matter.
    pub fn get_loosely(&self, name: &str) -> Option<&str> {
        let loose = |n: &str| !n.starts_with("xmlns:") && local(n).eq_ignore_ascii_case(name);
        self.get(name).or_else(|| self.attributes.iter().find(|(n, _)| loose(n)).map(|(_, v)| v.as_str()))
    }

    /// An attribute that is there keeps its place; a new one comes last.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.attributes.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = value.to_string(),
            None => self.attributes.push((name.to_string(), value.to_string())),
        }
    }

    pub fn remove(&mut self, name: &str) -> Option<String> {
        let at = self.attributes.iter().position(|(n, _)| n == name)?;
        Some(self.attributes.remove(at).1)
    }

    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        self.children.iter().filter_map(Node::as_element)
    }

    pub fn elements_mut(&mut self) -> impl Iterator<Item = &mut Element> {
        self.children.iter_mut().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            _ => None,
        })
    }

    pub fn child(&self, name: &str) -> Option<&Element> {
        self.elements().find(|e| e.name == name)
    }

    pub fn child_mut(&mut self, name: &str) -> Option<&mut Element> {
        self.elements_mut().find(|e| e.name == name)
    }

    /// The elements of the section `name`, none if there is no such section.
    pub fn section(&self, name: &str) -> impl Iterator<Item = &Element> {
        self.child(name).into_iter().flat_map(Element::elements)
    }

    /// Append an element, indented like its siblings; in an empty parent, by its `depth` (root: 0).
    pub fn push(&mut self, element: Element, depth: usize) {
        let indent = self.indent().unwrap_or_else(|| line_break(depth));
        let closing = match self.children.last() {
            Some(Node::Text(text)) if is_blank(text) => self.children.pop(),
            _ => None,
        };
        self.children.push(Node::Text(indent));
        self.children.push(Node::Element(element));
        self.children.push(closing.unwrap_or_else(|| Node::Text(line_break(depth.saturating_sub(1)))));
    }

    /// Put an element behind the last child that may stand `before` it: comments keep to what they precede.
    pub fn insert(&mut self, element: Element, depth: usize, before: impl Fn(&str) -> bool) {
        let Some(indent) = self.elements().next().map(|_| self.indent().unwrap_or_else(|| line_break(depth)))
        else {
            return self.push(element, depth);
        };
        let last = self.children.iter().rposition(|n| n.as_element().is_some_and(|e| before(&e.name)));
        let at = last.map_or(0, |at| at + 1);
        self.children.splice(at..at, [Node::Text(indent), Node::Element(element)]);
    }

    /// Remove the child elements that `keep` denies, with the white space in front of them.
    pub fn retain(&mut self, mut keep: impl FnMut(&mut Element) -> bool) {
        let mut kept: Vec<Node> = Vec::with_capacity(self.children.len());
        for mut node in std::mem::take(&mut self.children) {
            if let Node::Element(element) = &mut node
                && !keep(element)
            {
                if matches!(kept.last(), Some(Node::Text(text)) if is_blank(text)) {
                    kept.pop();
                }
            } else {
                kept.push(node);
            }
        }
        self.children = kept;
    }

    /// The white space in front of the first child element.
    fn indent(&self) -> Option<String> {
        let first = self.children.iter().position(|n| n.as_element().is_some())?;
        match self.children.get(first.checked_sub(1)?) {
            Some(Node::Text(text)) if is_blank(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl Node {
    pub fn as_element(&self) -> Option<&Element> {
        match self {
            Node::Element(element) => Some(element),
            _ => None,
        }
    }
}

/// The part of a name behind its prefix.
pub(crate) fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
}

fn line_break(depth: usize) -> String {
    let mut text = String::from("\n");
    text.extend(std::iter::repeat_n("  ", depth));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appending to an indented parent copies the indentation; into an empty one it follows the depth.
    #[test]
    fn push_indents_like_its_siblings() {
        let mut parent = Element::new("p", &[]);
        parent.push(Element::new("a", &[]), 2);
        parent.push(Element::new("b", &[]), 2);
        let text = |s: &str| Node::Text(s.into());
        let element = |s: &str| Node::Element(Element::new(s, &[]));
        let expected = [text("\n    "), element("a"), text("\n    "), element("b"), text("\n  ")];
        assert_eq!(parent.children, expected);
    }

    /// What goes takes the white space in front of it along, and nothing else.
    #[test]
    fn retain_leaves_no_empty_line() {
        let mut parent = Element::new("p", &[]);
        parent.push(Element::new("a", &[]), 1);
        let before = parent.clone();
        parent.push(Element::new("b", &[]), 1);
        parent.retain(|e| e.name != "b");
        assert_eq!(parent, before);
    }

    #[test]
    fn loose_lookup_ignores_case_and_prefix_but_not_namespace_declarations() {
        let element = Element::new("e", &[("xmlns:guid", "urn:x"), ("fmi:GUID", "{1}")]);
        assert_eq!(element.get_loosely("guid"), Some("{1}"));
        assert_eq!(element.get("guid"), None);
    }
}
