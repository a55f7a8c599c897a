//! Names with prefixes, so that strict readers accept them: XML 1.0 alone would allow more.
//!
//! Elements of FMI have no prefix any more when this runs (`annotate::leave_namespace`, `conform`); what
//! remains stands in vendor annotations and declarations. "Namespaces in XML 1.0" wants every prefix
//! declared, none declared as nothing, one colon in a name at most, and no attribute twice. The schema wants
//! no `xsi:type` of a type that it does not know, and looks into an annotation's element that bears the name
//! of FMI's own root.

use std::collections::HashMap;

use crate::notes::Notes;
use crate::tree::Element;

const XML: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS: &str = "http://www.w3.org/2000/xmlns/";
const INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Mend the names below `root`, which is FMI's.
pub(crate) fn mend(root: &mut Element, notes: &mut Notes) {
    let mut walk = Walk { root: true, annotation: false, scope: HashMap::new(), missing: Vec::new(), notes };
    walk.scope.insert("xml".into(), vec![XML.into()]);
    walk.visit(root);
    for prefix in walk.missing {
        let what = format!("the prefix \"{prefix}\" is used but not declared; declared");
        notes.warn(&root.name, root.line, &what);
        root.attributes.push((format!("xmlns:{prefix}"), undeclared(&prefix)));
    }
}

struct Walk<'a> {
    /// At the root element.
    root: bool,
    /// In an annotation, where names are others' and are kept as far as they can be.
    annotation: bool,
    /// What each prefix means, the innermost declaration last; "" is the default namespace.
    scope: HashMap<String, Vec<String>>,
    /// In the order of their first use.
    missing: Vec<String>,
    notes: &'a mut Notes,
}

impl Walk<'_> {
    fn visit(&mut self, element: &mut Element) {
        let line = element.line;
        let mut dropped = Vec::new();
        element.attributes.retain(|(name, value)| {
            let keep = declared(name).is_none_or(|prefix| may_declare(prefix, value));
            if !keep {
                dropped.push(format!("{name}=\"{value}\" is no legal declaration; left out"));
            }
            keep
        });
        for what in dropped {
            self.notes.warn(&element.name, line, &what);
        }
        let declarations: Vec<(String, String)> = element
            .attributes
            .iter()
            .filter_map(|(name, value)| Some((declared(name)?.to_string(), value.clone())))
            .collect();
        for (prefix, value) in &declarations {
            self.scope.entry(prefix.clone()).or_default().push(value.clone());
        }
        self.mend_element(element);
        self.mend_attributes(element);
        self.root = false;
        let outside = self.annotation;
        self.annotation |= element.name == "Tool";
        for child in element.elements_mut() {
            self.visit(child);
        }
        self.annotation = outside;
        for (prefix, _) in &declarations {
            self.scope.entry(prefix.clone()).or_default().pop();
        }
    }

    fn mend_element(&mut self, element: &mut Element) {
        let name = element.name.clone();
        let namespace = self.meaning(&name, true);
        let ours = !self.root && name == "fmiModelDescription" && namespace.is_empty();
        let proper = if ours {
            "fmiModelDescription_".to_string()
        } else if is_qualified(&name) {
            self.use_prefix(&name);
            return;
        } else {
            name.replace(':', "_")
        };
        self.notes.warn(
            &name,
            element.line,
            &format!("strict readers refuse this name; renamed to {proper}"),
        );
        element.name = proper;
    }

    fn mend_attributes(&mut self, element: &mut Element) {
        let mut seen: Vec<(String, String)> = Vec::new();
        if !self.annotation {
            // Where the schema lies is all that an element of FMI may say in another namespace.
            let mut dropped = Vec::new();
            element.attributes.retain(|(name, _)| {
                let ours = declared(name).is_some() || !name.contains(':');
                let keep = ours || self.meaning(name, false) == INSTANCE && name.ends_with("chemaLocation");
                if !keep {
                    dropped.push(format!(
                        "the attribute {name} belongs to no namespace that FMI knows; left out"
                    ));
                }
                keep
            });
            for what in dropped {
                self.notes.warn(&element.name, element.line, &what);
            }
        }
        for at in 0..element.attributes.len() {
            let name = element.attributes[at].0.clone();
            if declared(&name).is_some() {
                continue;
            }
            let local = name.split_once(':').map_or(name.as_str(), |(_, local)| local).to_string();
            let meaning = (self.meaning(&name, false), local);
            let location = meaning.1.ends_with("chemaLocation") && !self.annotation;
            let legal =
                is_qualified(&name) && (meaning.0 != INSTANCE || location) && !seen.contains(&meaning);
            if legal {
                self.use_prefix(&name);
                seen.push(meaning);
                continue;
            }
            let mut proper = name.replace(':', "_");
            while element.attributes.iter().any(|(other, _)| *other == proper) {
                proper.push('_');
            }
            let what = format!("strict readers refuse the attribute {name}; renamed to {proper}");
            self.notes.warn(&element.name, element.line, &what);
            seen.push((String::new(), proper.clone()));
            element.attributes[at].0 = proper;
        }
    }

    /// The namespace of a name; an attribute without a prefix has none.
    fn meaning(&self, name: &str, element: bool) -> String {
        let prefix = match name.split_once(':') {
            Some((prefix, _)) => prefix,
            None if element => "",
            None => return String::new(),
        };
        match self.scope.get(prefix).and_then(|values| values.last()) {
            Some(value) => value.clone(),
            None if prefix.is_empty() => String::new(),
            None => undeclared(prefix),
        }
    }

    fn use_prefix(&mut self, name: &str) {
        let Some((prefix, _)) = name.split_once(':') else { return };
        let known = self.scope.get(prefix).is_some_and(|values| !values.is_empty());
        if !known && !self.missing.iter().any(|other| other == prefix) {
            self.missing.push(prefix.to_string());
        }
    }
}

/// What a prefix that nobody declared means.
fn undeclared(prefix: &str) -> String {
    match prefix {
        "xsi" => INSTANCE.into(),
        _ => format!("urn:undeclared:{}", prefix.escape_default().to_string().replace(['{', '}', '\\'], "")),
    }
}

/// The prefix that an attribute declares; "" for the default namespace.
fn declared(attribute: &str) -> Option<&str> {
    if attribute == "xmlns" { Some("") } else { attribute.strip_prefix("xmlns:") }
}

fn may_declare(prefix: &str, value: &str) -> bool {
    let uri = value.chars().all(|c| c.is_ascii_graphic() && !"<>\"{}|\\^`".contains(c));
    let reserved = value == XML || value == XMLNS || prefix == "xml" || prefix == "xmlns";
    let named = prefix.is_empty() || !value.is_empty() && !prefix.contains(':');
    uri && !reserved && named
}

/// A name with one colon at most, which is not at an end, and with a letter behind it.
fn is_qualified(name: &str) -> bool {
    match name.split_once(':') {
        None => true,
        Some((prefix, local)) => {
            let starts = |part: &str| part.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
            prefix != "xmlns" && starts(prefix) && starts(local) && !local.contains(':')
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::parse::parse;
    use crate::write::write;

    fn mended(inner: &str) -> String {
        let text = format!("<r><Tool>{inner}</Tool></r>");
        let mut document = parse(text.as_bytes(), &mut Vec::new()).unwrap();
        mend(&mut document.root, &mut Notes::default());
        let text = String::from_utf8(write(&document)).unwrap();
        text.split_once("?>\n").unwrap().1.trim_end().replace("<Tool>", "").replace("</Tool>", "")
    }

    #[test]
    fn lawful_names_stay() {
        for text in ["<a:b xmlns:a=\"urn:a\" a:c=\"1\" c=\"2\"/>", "<b xml:lang=\"de\" xmlns=\"urn:x\"/>"] {
            assert_eq!(mended(text), format!("<r>{text}</r>"));
        }
    }

    #[test]
    fn elements_of_fmi_say_where_the_schema_is_and_no_more() {
        let given = "<r xsi:noNamespaceSchemaLocation='s' xsi:type='t' q:a='1'/>";
        let mut document = parse(given.as_bytes(), &mut Vec::new()).unwrap();
        mend(&mut document.root, &mut Notes::default());
        let names: Vec<&str> = document.root.attributes.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["xsi:noNamespaceSchemaLocation", "xmlns:xsi"]);
    }

    #[test]
    fn others_are_mended() {
        for (given, expected) in [
            ("<q:a/>", "<r xmlns:q=\"urn:undeclared:q\"><q:a/></r>"),
            ("<a xmlns:q=\"\" q:b=\"1\"/>", "<r xmlns:q=\"urn:undeclared:q\"><a q:b=\"1\"/></r>"),
            ("<a:b:c/>", "<r><a_b_c/></r>"),
            ("<a b:=\"1\"/>", "<r><a b_=\"1\"/></r>"),
            ("<a xmlns:xml=\"urn:x\"/>", "<r><a/></r>"),
            ("<a xsi:type=\"t\"/>", "<r><a xsi_type=\"t\"/></r>"),
            (
                "<a xmlns:p=\"u\" xmlns:q=\"u\" p:b=\"1\" q:b=\"2\"/>",
                "<r><a xmlns:p=\"u\" xmlns:q=\"u\" p:b=\"1\" q_b=\"2\"/></r>",
            ),
            ("<fmiModelDescription/>", "<r><fmiModelDescription_/></r>"),
        ] {
            assert_eq!(mended(given), expected);
        }
    }
}
