//! Text to tree, in one pass, with a limit on depth: hostile files cost no more than their length.
//!
//! No entity is ever expanded but the five that XML predefines and character references; a document
//! type that declares others is refused. Well-formedness beyond what `quick-xml` checks is checked here
//! as far as it matters for writing the tree again: names, one root, nothing but space around it.

use std::collections::HashSet;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use crate::decode::{decode, is_legal, legal};
use crate::error::Error;
use crate::tree::{Document, Element, Node, is_blank};

/// FMUs need five levels, vendor annotations a few more.
const DEPTH_LIMIT: usize = 200;

pub(crate) fn parse(bytes: &[u8], warnings: &mut Vec<String>) -> Result<Document, Error> {
    let text = decode(bytes, warnings)?;
    let mut reader = Reader::from_str(&text);
    reader.config_mut().check_comments = true;
    let mut place = Place { text: &text, offset: 0, line: 1 };
    let mut builder = Builder::default();
    loop {
        place.advance(reader.buffer_position() as usize);
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => {
                place.advance(reader.error_position() as usize);
                return Err(place.malformed(error.to_string()));
            }
        };
        match event {
            Event::Start(tag) => builder.open(element(&tag, &place)?, &place)?,
            Event::Empty(tag) => {
                builder.open(element(&tag, &place)?, &place)?;
                builder.close(&place)?;
            }
            Event::End(_) => builder.close(&place)?,
            Event::Text(text) => builder.text(&text.xml10_content(), &place)?,
            Event::GeneralRef(reference) => builder.text(&resolve(&reference, &place)?, &place)?,
            Event::CData(data) => {
                let data = data.xml10_content().into_owned();
                if builder.open.is_empty() {
                    return Err(place.malformed("CDATA outside the root element".into()));
                }
                builder.add(Node::CData(data));
            }
            Event::Comment(comment) => builder.add(Node::Comment(comment.xml10_content().into_owned())),
            Event::PI(pi) => {
                let text = pi.into_inner().into_owned();
                let target = text.split([' ', '\t', '\r', '\n']).next().unwrap_or_default();
                // Nothing that anybody could have understood is lost.
                match is_name(target) && !target.contains(':') && !target.eq_ignore_ascii_case("xml") {
                    true => builder.add(Node::Instruction(text)),
                    false => warnings.push(format!(
                        "line {}: the processing instruction <?{text}?> has no legal name; left out",
                        place.line
                    )),
                }
            }
            Event::DocType(doctype) => {
                let doctype = doctype.into_inner().into_owned();
                // Parameter entities too: "%" needs an <!ENTITY as well.
                if doctype.to_ascii_uppercase().contains("<!ENTITY") {
                    return Err(Error::Entities { line: place.line });
                }
                if builder.root.is_some() || !builder.open.is_empty() {
                    return Err(place.malformed("<!DOCTYPE> must stand before the root element".into()));
                }
                builder.add(Node::Doctype(doctype));
            }
            Event::Decl(_) => {
                if place.offset != 0 {
                    return Err(place.malformed("the XML declaration must be the very first thing".into()));
                }
            }
            Event::Eof => break,
        }
    }
    builder.finish(&place)
}

/// Where the reader is; lines are counted on, never from the start again.
struct Place<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl Place<'_> {
    fn advance(&mut self, offset: usize) {
        let offset = offset.clamp(self.offset, self.text.len());
        self.line += self.text.as_bytes()[self.offset..offset].iter().filter(|b| **b == b'\n').count();
        self.offset = offset;
    }

    fn malformed(&self, what: String) -> Error {
        let before = &self.text.as_bytes()[..self.offset];
        let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        // Columns count characters: continuation bytes of UTF-8 are none.
        let column = 1 + before[start..].iter().filter(|b| (**b & 0xC0) != 0x80).count();
        Error::Malformed { line: self.line, column, what }
    }
}

#[derive(Default)]
struct Builder {
    prolog: Vec<Node>,
    open: Vec<Element>,
    root: Option<Element>,
    epilog: Vec<Node>,
}

impl Builder {
    fn add(&mut self, node: Node) {
        match (self.open.last_mut(), &self.root) {
            (Some(parent), _) => parent.children.push(node),
            (None, None) => self.prolog.push(node),
            (None, Some(_)) => self.epilog.push(node),
        }
    }

    /// Pieces of text that meet are one text.
    fn text(&mut self, text: &str, place: &Place) -> Result<(), Error> {
        match self.open.last_mut() {
            Some(parent) => match parent.children.last_mut() {
                Some(Node::Text(before)) => before.push_str(text),
                _ if text.is_empty() => {}
                _ => parent.children.push(Node::Text(text.to_string())),
            },
            None if is_blank(text) => {}
            None if self.root.is_none() => {
                return Err(
                    place.malformed("text before the root element; expected <fmiModelDescription>".into())
                );
            }
            None => return Err(place.malformed("text behind the root element; expected the end".into())),
        }
        Ok(())
    }

    fn open(&mut self, element: Element, place: &Place) -> Result<(), Error> {
        if self.open.is_empty() && self.root.is_some() {
            return Err(place.malformed(format!(
                "a second root element <{}>; expected the end of the file",
                element.name
            )));
        }
        if self.open.len() >= DEPTH_LIMIT {
            return Err(Error::TooDeep { line: place.line, limit: DEPTH_LIMIT });
        }
        self.open.push(element);
        Ok(())
    }

    fn close(&mut self, place: &Place) -> Result<(), Error> {
        let Some(element) = self.open.pop() else {
            return Err(place.malformed("a closing tag without its opening tag".into()));
        };
        match self.open.last_mut() {
            Some(parent) => parent.children.push(Node::Element(element)),
            None => self.root = Some(element),
        }
        Ok(())
    }

    fn finish(self, place: &Place) -> Result<Document, Error> {
        if let Some(element) = self.open.last() {
            return Err(place.malformed(format!(
                "the file ends inside <{}> of line {}; expected </{}>",
                element.name, element.line, element.name
            )));
        }
        match self.root {
            Some(root) => Ok(Document { prolog: self.prolog, root, epilog: self.epilog }),
            None => Err(place.malformed("no element at all; expected <fmiModelDescription>".into())),
        }
    }
}

fn element(tag: &BytesStart, place: &Place) -> Result<Element, Error> {
    let name = tag.name().as_ref().to_string();
    check_name(&name, place)?;
    let mut attributes: Vec<(String, String)> = Vec::new();
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.map_err(|e| place.malformed(format!("in <{name}>: {e}")))?;
        let key = attribute.key.as_ref().to_string();
        check_name(&key, place)?;
        let value = attribute
            .normalized_value(XmlVersion::Explicit1_0)
            .map_err(|e| place.malformed(format!("in <{name}>, attribute {key}: {e}")))?;
        // A reference may name what is illegal as a character.
        let value =
            if value.chars().all(is_legal) { value.into_owned() } else { value.chars().map(legal).collect() };
        attributes.push((key, value));
    }
    if let Some(twice) = repeated(&attributes) {
        return Err(place.malformed(format!("<{name}> has the attribute {twice} twice")));
    }
    Ok(Element { name, attributes, children: Vec::new(), line: place.line })
}

/// quick-xml's own check is quadratic in the number of attributes.
fn repeated(attributes: &[(String, String)]) -> Option<&str> {
    if attributes.len() <= 16 {
        let twice =
            |(i, (name, _)): &(usize, &(String, String))| attributes[..*i].iter().any(|(n, _)| n == name);
        return attributes.iter().enumerate().find(twice).map(|(_, (name, _))| name.as_str());
    }
    let mut seen = HashSet::new();
    attributes.iter().find(|(name, _)| !seen.insert(name)).map(|(name, _)| name.as_str())
}

fn check_name(name: &str, place: &Place) -> Result<(), Error> {
    match is_name(name) {
        true => Ok(()),
        false => Err(place.malformed(format!("\"{name}\" is not a name of an element or attribute"))),
    }
}

/// XML 1.0, productions 4, 4a and 5.
fn is_name(name: &str) -> bool {
    let first = |c: char| {
        matches!(c, ':' | '_' | 'A'..='Z' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}'
            | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}'
            | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}'
            | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
    };
    let rest = |c: char| {
        first(c)
            || matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
    };
    name.chars().next().is_some_and(first) && name.chars().all(rest)
}

fn resolve(reference: &BytesRef, place: &Place) -> Result<String, Error> {
    if let Some(c) = reference.resolve_char_ref().map_err(|e| place.malformed(e.to_string()))? {
        return Ok(legal(c).to_string());
    }
    let name = reference.xml10_content();
    match resolve_xml_entity(&name) {
        Some(text) => Ok(text.to_string()),
        None => Err(place.malformed(format!("the entity &{name}; is not defined"))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn tree(text: &str) -> Document {
        parse(text.as_bytes(), &mut Vec::new()).unwrap()
    }

    fn refused(text: &str) -> String {
        parse(text.as_bytes(), &mut Vec::new()).unwrap_err().to_string()
    }

    /// References, line ends and CDATA as XML 1.0 prescribes, sections 2.11, 3.3.3 and 4.6.
    #[test]
    fn references_and_line_ends() {
        let document = tree("<a b='1 &lt;&#x20;2\r\n3&#10;4'>x &amp;\r\ny&#33;<![CDATA[<&]]></a>");
        assert_eq!(document.root.get("b"), Some("1 < 2 3\n4"));
        assert_eq!(document.root.children, [Node::Text("x &\ny!".into()), Node::CData("<&".into())]);
    }

    #[test]
    fn elements_know_their_line() {
        let document = tree("<?xml version='1.0'?>\n<!-- c -->\n<a\n x='1'>\n  <b/>\n</a>");
        assert_eq!(document.root.line, 3);
        assert_eq!(document.root.child("b").unwrap().line, 5);
        assert_eq!(document.prolog, [Node::Comment(" c ".into())]);
    }

    /// Each fault is told with its place and what it is.
    #[test]
    fn faults_have_a_place() {
        for (text, place, what) in [
            ("", "line 1, column 1", "no element"),
            ("hello", "line 1, column 1", "text before the root"),
            ("<a>\n<b>\n", "line 3, column 1", "inside <b> of line 2"),
            ("<a>\n <b></c></a>", "line 2, column 5", "c"),
            ("<a/><b/>", "line 1, column 5", "second root"),
            ("<a/>x", "line 1, column 5", "behind the root"),
            ("<a x='1' x='2'/>", "line 1", "x twice"),
            ("<a x=1/>", "line 1", "<a>"),
            ("<a>&nbsp;</a>", "line 1, column 4", "&nbsp;"),
            ("<a b='&nbsp;'/>", "line 1", "nbsp"),
            ("<1/>", "line 1", "not a name"),
            ("<a µ='1'/>", "line 1", "not a name"),
            ("<×/>", "line 1", "not a name"),
            (" <?xml version='1.0'?><a/>", "line 1, column 2", "very first"),
            ("</a>", "line 1", "a"),
        ] {
            let message = refused(text);
            assert!(message.contains(place) && message.contains(what), "{text:?}: {message}");
        }
    }

    /// Billions of laughs are refused before the first one.
    #[test]
    fn entities_are_refused() {
        let bomb = "<?xml version='1.0'?>\n<!DOCTYPE a [<!ENTITY x 'ha'><!ENTITY y '&x;&x;'>]><a>&y;</a>";
        assert!(refused(bomb).contains("line 2"), "{}", refused(bomb));
        tree("<!DOCTYPE a><a/>");
    }

    #[test]
    fn depth_is_limited() {
        let nested = |n: usize| "<a>".repeat(n) + &"</a>".repeat(n);
        tree(&nested(DEPTH_LIMIT));
        assert!(refused(&nested(DEPTH_LIMIT + 1)).contains("nested"));
        assert!(refused(&"<a>".repeat(1_000_000)).contains("nested"));
    }
}
