//! Tree to text: UTF-8, one line per tag, the same bytes for the same tree.

use crate::tree::{Document, Element, Node};

/// White space between elements is that of the tree; inside a tag it is one space.
pub(crate) fn write(document: &Document) -> Vec<u8> {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    for node in &document.prolog {
        write_node(&mut out, node);
        out.push('\n');
    }
    write_element(&mut out, &document.root);
    out.push('\n');
    for node in &document.epilog {
        write_node(&mut out, node);
        out.push('\n');
    }
    out.into_bytes()
}

fn write_node(out: &mut String, node: &Node) {
    match node {
        Node::Element(element) => write_element(out, element),
        Node::Text(text) => escape(out, text, false),
        Node::CData(data) => wrap(out, "<![CDATA[", data, "]]>"),
        Node::Comment(comment) => wrap(out, "<!--", comment, "-->"),
        Node::Instruction(text) => wrap(out, "<?", text, "?>"),
        Node::Doctype(text) => wrap(out, "<!DOCTYPE ", text.trim_start(), ">"),
    }
}

fn write_element(out: &mut String, element: &Element) {
    out.push('<');
    out.push_str(&element.name);
    for (name, value) in &element.attributes {
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        escape(out, value, true);
        out.push('"');
    }
    if element.children.is_empty() {
        out.push_str("/>");
        return;
    }
    out.push('>');
    for node in &element.children {
        write_node(out, node);
    }
    out.push_str("</");
    out.push_str(&element.name);
    out.push('>');
}

fn wrap(out: &mut String, open: &str, text: &str, close: &str) {
    out.push_str(open);
    out.push_str(text);
    out.push_str(close);
}

/// A reader turns line ends in attributes into spaces and `\r` into `\n`: what must survive is a reference.
fn escape(out: &mut String, text: &str, attribute: bool) {
    let plain = |b: u8| !matches!(b, b'&' | b'<' | b'>' | b'"' | b'\n' | b'\t' | b'\r');
    if text.bytes().all(plain) {
        return out.push_str(text);
    }
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if attribute => out.push_str("&quot;"),
            '\n' if attribute => out.push_str("&#10;"),
            '\t' if attribute => out.push_str("&#9;"),
            '\r' => out.push_str("&#13;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parse::parse;
    use proptest::prelude::*;

    /// Any character that XML can hold, with a bent for those that need care.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof!["[ \t\n\r<>&\"'a-z\\]]{1,8}", "\\PC{1,6}"]
    }

    fn name() -> impl Strategy<Value = String> {
        "[a-zA-Z_][a-zA-Z0-9_.:-]{0,6}"
    }

    fn element() -> impl Strategy<Value = Element> {
        let attributes = || prop::collection::btree_map(name(), text(), 0..4);
        let leaf = (name(), attributes()).prop_map(|(name, attributes)| Element {
            name,
            attributes: attributes.into_iter().collect(),
            ..Element::default()
        });
        leaf.prop_recursive(4, 24, 5, move |inner| {
            let node = prop_oneof![
                inner.prop_map(Node::Element),
                text().prop_map(Node::Text),
                "[ a-z<&]{0,6}".prop_map(Node::CData),
                "[ a-z<&]{0,6}".prop_map(Node::Comment),
                "[a-wyz]{1,3} [a-z<&]{0,6}".prop_map(Node::Instruction),
            ];
            (name(), attributes(), prop::collection::vec(node, 0..5)).prop_map(|(name, attributes, nodes)| {
                let mut children: Vec<Node> = Vec::new();
                for node in nodes {
                    // Neighbouring texts are one text once they are read.
                    match (children.last_mut(), node) {
                        (Some(Node::Text(before)), Node::Text(more)) => before.push_str(&more),
                        (_, node) => children.push(node),
                    }
                }
                Element { name, attributes: attributes.into_iter().collect(), children, line: 0 }
            })
        })
    }

    proptest! {
        /// Nothing is lost: a tree that is written and read is the same tree.
        #[test]
        fn read_undoes_write(root in element()) {
            let document = Document { prolog: vec![Node::Comment("p".into())], root, epilog: vec![] };
            let mut warnings = Vec::new();
            prop_assert_eq!(&parse(&write(&document), &mut warnings).unwrap(), &document);
            prop_assert!(warnings.is_empty());
        }
    }

    #[test]
    fn a_document_keeps_its_comments_instructions_and_type() {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE a>\n<!-- 1 -->\n<?pi 2?>\n\
                    <a b=\"&lt;&#10;&quot;\">\n  <c/>&gt;<![CDATA[<]]></a>\n<!-- 3 -->\n";
        let document = parse(text.as_bytes(), &mut Vec::new()).unwrap();
        assert_eq!(String::from_utf8(write(&document)).unwrap(), text);
    }
}
