//! Vendor annotations: what belongs to others, passed on whole.
//!
//! The schema allows one element in each `Tool`. Where a vendor put several, the `Tool` is split into as
//! many of the same name.

use crate::conform::section;
use crate::notes::Notes;
use crate::tree::{Document, Element, Node, is_blank, local};

/// Append what was kept during the repairs as an annotation of our own.
pub(crate) fn append_kept(document: &mut Document, notes: &mut Notes) {
    if notes.kept.is_empty() {
        return;
    }
    let mut kept = Element::new("Kept", &[]);
    for element in notes.kept.drain(..) {
        kept.push(element, 4);
    }
    let mut tool = Element::new("Tool", &[("name", "fmu-build")]);
    tool.push(kept, 3);
    section(&mut document.root, "VendorAnnotations").push(tool, 2);
}

pub(crate) fn conform_annotations(element: &mut Element, notes: &mut Notes) {
    let mut kept = Vec::with_capacity(element.children.len());
    for node in std::mem::take(&mut element.children) {
        match node {
            Node::Element(mut tool) if local(&tool.name).eq_ignore_ascii_case("Tool") => {
                tool.name = "Tool".into();
                conform_tool(tool, &mut kept, notes);
            }
            Node::Element(other) => {
                notes.warn(&other.name, other.line, "an annotation without its <Tool>; put into one");
                kept.push(Node::Element(tool_around("unknown", Node::Element(other))));
            }
            Node::Text(text) | Node::CData(text) if !is_blank(&text) => {
                notes.warn(&element.name, element.line, "text without its <Tool>; put into one");
                kept.push(Node::Element(tool_around("unknown", wrapped(text))));
            }
            Node::CData(_) => {}
            other => kept.push(other),
        }
    }
    element.children = kept;
}

fn conform_tool(mut tool: Element, out: &mut Vec<Node>, notes: &mut Notes) {
    let line = tool.line;
    let name = tool.get_loosely("name").map(str::to_string).unwrap_or_else(|| {
        notes.warn("Tool", line, "it has no attribute \"name\"; named \"unknown\"");
        "unknown".into()
    });
    for (other, value) in std::mem::take(&mut tool.attributes) {
        match other.as_str() {
            "name" => {}
            declaration if declaration == "xmlns" || declaration.starts_with("xmlns:") => {
                tool.attributes.push((other, value));
            }
            _ if local(&other).eq_ignore_ascii_case("name") => {}
            _ => {
                notes.warn(
                    "Tool",
                    line,
                    &format!("the attribute {other}=\"{value}\" is moved into an annotation"),
                );
                notes.keep_attribute("Tool", &other, &value);
            }
        }
    }
    tool.attributes.insert(0, ("name".into(), name));
    let template = Element { children: Vec::new(), ..tool.clone() };
    let mut current = template.clone();
    let mut full = false;
    for node in tool.children {
        let node = match node {
            Node::Text(text) | Node::CData(text) if !is_blank(&text) => {
                notes.warn("Tool", line, "it holds text outside an element; put into one");
                wrapped(text)
            }
            other => other,
        };
        if node.as_element().is_some() {
            if full {
                notes.warn("Tool", line, "it holds more than one element, which the schema forbids; split");
                out.push(Node::Element(std::mem::replace(&mut current, template.clone())));
            }
            full = true;
        }
        current.children.push(node);
    }
    out.push(Node::Element(current));
}

fn wrapped(text: String) -> Node {
    Node::Element(Element { children: vec![Node::Text(text)], ..Element::new("Text", &[]) })
}

fn tool_around(name: &str, node: Node) -> Element {
    Element { children: vec![node], ..Element::new("Tool", &[("name", name)]) }
}

/// FMI 2.0 has no namespace. One that was given is taken off; annotations, which may mean it, keep it.
pub(crate) fn leave_namespace(root: &mut Element, notes: &mut Notes) {
    let line = root.line;
    if let Some((prefix, _)) = root.name.split_once(':') {
        let what = format!("FMI 2.0 has no namespace; the prefix \"{prefix}\" is taken off");
        notes.warn(local(&root.name), line, &what);
    }
    if let Some(namespace) = root.remove("xmlns") {
        let what = format!("FMI 2.0 has no namespace; xmlns=\"{namespace}\" is taken off");
        notes.warn(local(&root.name), line, &what);
        if !namespace.is_empty() {
            declare_in_tools(root, &namespace);
        }
    }
}

fn declare_in_tools(element: &mut Element, namespace: &str) {
    let is_tool = local(&element.name) == "Tool";
    for child in element.elements_mut() {
        if !is_tool {
            declare_in_tools(child, namespace);
        } else if child.get("xmlns").is_none() {
            child.set("xmlns", namespace);
        }
    }
}
