//! Make a tree follow the schema: names, order, literals. The first of the repairs.
//!
//! What the schema has no place for is not thrown away: it moves into
//! `<VendorAnnotations><Tool name="fmu-build"><Kept>`, where every tool must tolerate it.

use crate::annotate;
use crate::literal;
use crate::notes::Notes;
use crate::schema::{Literal, ROOT, Rule};
use crate::tree::{Document, Element, Node, is_blank, local};

pub(crate) fn conform(document: &mut Document, notes: &mut Notes) {
    annotate::leave_namespace(&mut document.root, notes);
    conform_element(&mut document.root, &ROOT, notes);
}

/// Whether the element may stay.
fn conform_element(element: &mut Element, rule: &'static Rule, notes: &mut Notes) -> bool {
    let line = element.line;
    if element.name != rule.name {
        // A prefix on everything is one fault, told once by `leave_namespace`.
        if local(&element.name) != rule.name {
            notes.warn(&element.name, line, &format!("read as <{}>", rule.name));
        }
        element.name = rule.name.to_string();
    }
    if rule.name == "ScalarVariable" {
        notes.variable = Some(element.get_loosely("name").unwrap_or("").to_string());
    }
    conform_attributes(element, rule, notes);
    if let Some(missing) = rule.required.iter().find(|name| element.get(name).is_none()) {
        notes.warn(rule.name, line, &format!("it has no attribute \"{missing}\"; left out"));
        return false;
    }
    if rule.annotations {
        annotate::conform_annotations(element, notes);
    } else {
        conform_children(element, rule, notes);
    }
    if rule.name == "ScalarVariable" {
        notes.variable = None;
    }
    let empty = (rule.container || rule.annotations) && element.elements().next().is_none();
    if empty {
        notes.warn(rule.name, line, "it is empty, which the schema forbids; left out");
    }
    !empty
}

fn conform_attributes(element: &mut Element, rule: &'static Rule, notes: &mut Notes) {
    let line = element.line;
    let lawful = |(name, value): &(String, String)| {
        rule.attributes.iter().any(|(n, kind)| n == name && matches!(kind, Literal::Text | Literal::Later))
            || rule
                .attributes
                .iter()
                .any(|(n, kind)| n == name && legal(*kind, value).as_deref() == Some(value))
    };
    // Nearly every element of nearly every file.
    if element.attributes.iter().all(lawful) {
        return;
    }
    let old = std::mem::take(&mut element.attributes);
    for at in 0..old.len() {
        let (name, value) = (&old[at].0, &old[at].1);
        if name.starts_with("xmlns:") || name.starts_with("xsi:") && name.ends_with("chemaLocation") {
            element.attributes.push((name.clone(), value.clone()));
            continue;
        }
        let exact = rule.attributes.iter().find(|(n, _)| n == name);
        let loose = || {
            let alike =
                |n: &str| local(name).eq_ignore_ascii_case(n) && old.iter().all(|(other, _)| other != n);
            rule.attributes.iter().find(|(n, _)| alike(n))
        };
        let Some((proper, kind)) = exact.or_else(loose) else {
            notes.warn(
                rule.name,
                line,
                &format!("the attribute {name}=\"{value}\" is unknown to FMI 2.0; moved into an annotation"),
            );
            notes.keep_attribute(rule.name, name, value);
            continue;
        };
        if proper != name {
            notes.warn(rule.name, line, &format!("the attribute {name}=\"{value}\" is read as {proper}"));
        }
        match legal(*kind, value) {
            Some(text) => {
                if text != value.trim() && text != *value {
                    notes.warn(rule.name, line, &format!("{proper}=\"{value}\" is read as \"{text}\""));
                }
                element.set(proper, &text);
            }
            None => {
                let expected = expected(*kind);
                notes.warn(
                    rule.name,
                    line,
                    &format!("{proper}=\"{value}\" is not {expected}; read as if it were absent"),
                );
                notes.keep_attribute(rule.name, proper, value);
            }
        }
    }
}

fn legal(kind: Literal, value: &str) -> Option<std::borrow::Cow<'_, str>> {
    match kind {
        Literal::Text | Literal::Later => Some(value.into()),
        Literal::Double => literal::double(value),
        Literal::Int => literal::int(value),
        Literal::Boolean => literal::boolean(value),
        Literal::DateTime => literal::is_date_time(value).then_some(value.into()),
        Literal::OneOf(list) => {
            list.iter().find(|v| v.eq_ignore_ascii_case(value.trim())).map(|v| (*v).into())
        }
    }
}

fn expected(kind: Literal) -> String {
    match kind {
        Literal::Text | Literal::Later => "text".into(),
        Literal::Double => "a number".into(),
        Literal::Int => "an integer of 32 bits".into(),
        Literal::Boolean => "a truth value".into(),
        Literal::DateTime => "a date and time such as 2026-02-03T04:05:06Z".into(),
        Literal::OneOf(list) => format!("one of {}", list.join(", ")),
    }
}

fn conform_children(element: &mut Element, rule: &'static Rule, notes: &mut Notes) {
    let line = element.line;
    let mut seen: Vec<usize> = vec![0; rule.children.len()];
    let mut chosen = false;
    let mut last = 0;
    let mut sorted = true;
    let mut merged: Vec<(usize, Vec<Node>)> = Vec::new();
    let mut kept: Vec<Node> = Vec::with_capacity(element.children.len());
    for node in std::mem::take(&mut element.children) {
        let mut child = match node {
            Node::Element(child) => child,
            Node::Text(text) | Node::CData(text) if !is_blank(&text) => {
                let shown: String = text.trim().chars().take(40).collect();
                notes.warn(rule.name, line, &format!("the text \"{shown}\" is moved into an annotation"));
                notes.keep_text(rule.name, &text);
                continue;
            }
            Node::CData(_) => continue,
            other => {
                kept.push(other);
                continue;
            }
        };
        let name = local(&child.name);
        let found = rule.children.iter().position(|r| r.name == name);
        let found = found.or_else(|| rule.children.iter().position(|r| r.name.eq_ignore_ascii_case(name)));
        let stays = match found {
            Some(at) if at < rule.choice && chosen => {
                notes.warn(rule.name, line, &format!("<{name}> is a second type; moved into an annotation"));
                notes.keep_element(rule.name, child);
                drop_blank(&mut kept);
                continue;
            }
            Some(at) => conform_element(&mut child, rule.children[at], notes),
            None => {
                notes.warn(
                    name,
                    child.line,
                    &format!("unknown to FMI 2.0 inside <{}>; moved into an annotation", rule.name),
                );
                notes.keep_element(rule.name, child);
                drop_blank(&mut kept);
                continue;
            }
        };
        let at = found.unwrap_or(0);
        if !stays {
            if !child.attributes.is_empty() {
                notes.keep_element(rule.name, child);
            }
            drop_blank(&mut kept);
            continue;
        }
        if seen[at] > 0 && !rule.children[at].repeated {
            notes.warn(&child.name, child.line, "a second one; read together with the first");
            drop_blank(&mut kept);
            for (name, value) in &child.attributes {
                notes.keep_attribute(&child.name, name, value);
            }
            merged.push((at, child.children));
            continue;
        }
        seen[at] += 1;
        chosen |= at < rule.choice;
        sorted &= last <= at;
        last = at;
        kept.push(Node::Element(child));
    }
    element.children = kept;
    for (at, nodes) in merged {
        let inner = rule.children[at];
        if let Some(first) = element.child_mut(inner.name) {
            first.children.extend(nodes);
            if !inner.annotations {
                conform_children(first, inner, notes);
            }
        }
    }
    if rule.children.is_empty() {
        // To the schema, space in an element that holds nothing is something.
        element.children.retain(|node| !matches!(node, Node::Text(_)));
    }
    if !sorted {
        notes.warn(rule.name, line, "its elements are not in the order of the schema; sorted");
        sort(element, rule);
    }
}

fn drop_blank(nodes: &mut Vec<Node>) {
    if matches!(nodes.last(), Some(Node::Text(text)) if is_blank(text)) {
        nodes.pop();
    }
}

/// Comments and white space move with the element that they stand in front of.
fn sort(element: &mut Element, rule: &'static Rule) {
    let mut groups: Vec<(usize, Vec<Node>)> = Vec::new();
    let mut group = Vec::new();
    for node in std::mem::take(&mut element.children) {
        let rank = node.as_element().map(|e| rank(rule, &e.name));
        group.push(node);
        if let Some(rank) = rank {
            groups.push((rank, std::mem::take(&mut group)));
        }
    }
    groups.sort_by_key(|(rank, _)| *rank);
    element.children = groups.into_iter().flat_map(|(_, nodes)| nodes).chain(group).collect();
}

fn rank(rule: &Rule, name: &str) -> usize {
    rule.children.iter().position(|r| r.name == name).unwrap_or(rule.children.len())
}

/// The section `name` of the root, made in its place if it is not there.
pub(crate) fn section<'a>(root: &'a mut Element, name: &str) -> &'a mut Element {
    if root.child(name).is_none() {
        insert_section(root, Element::new(name, &[]));
    }
    let at = root.elements_mut().position(|e| e.name == name).unwrap_or(0);
    // It is there: it was, or it has just been inserted.
    root.elements_mut().nth(at).expect("a section that was just inserted")
}

/// Put a section where the schema wants it.
pub(crate) fn insert_section(root: &mut Element, section: Element) {
    let own = rank(&ROOT, &section.name);
    root.insert(section, 1, |name| rank(&ROOT, name) <= own);
}
