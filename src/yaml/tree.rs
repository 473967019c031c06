//! Builds the tree from the events of the parser.

use std::collections::HashMap;
use std::mem;
use std::ops::Range;

use saphyr_parser::{Event, Parser, Tag};

use super::budget::{Budget, MAX_SOURCE, Weight};
use super::place::Places;
use super::{Key, Node, Style, Value, YamlError, resolve};

/// Parses the YAML that stands in a byte range of a file.
///
/// An empty document is [`Value::Null`].
///
/// # Errors
/// Fails on anything but one document that follows the rules of the tree: no key twice, no tags
/// but those of the core schema, and no more nodes, text and depth than the limits allow.
pub fn parse(text: &str, yaml: Range<usize>) -> Result<Node, YamlError> {
    let places = Places::new(text, yaml);
    let source = places.source();
    check(&places, source)?;
    let mut tree = Tree::new(&places);
    let mut parser = Parser::new_from_str(source);
    // The pull side of the parser keeps its states in a vector; `Parser::load` would recurse.
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| places.scan_error(&error))?;
        tree.take(event, places.range(span))?;
    }
    Ok(tree.finish())
}

/// Refuses what the scanner would read too long or would take for the end of the text.
fn check(places: &Places, source: &str) -> Result<(), YamlError> {
    let start = places.start();
    if source.len() > MAX_SOURCE {
        let message = format!("too long: at most {MAX_SOURCE} bytes of yaml are allowed");
        return Err(places.error(start..start, message));
    }
    let control = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    if let Some((offset, c)) = source.char_indices().find(|&(_, c)| control(c)) {
        let at = start + offset;
        let message = format!("control characters are not allowed, found {c:?}");
        return Err(places.error(at..at + c.len_utf8(), message));
    }
    Ok(())
}

/// Holds a node that aliases may stand for.
struct Anchored {
    node: Node,
    weight: Weight,
}

/// Holds a collection that is not finished.
struct Frame {
    start: usize,
    /// The end of the last value in it.
    end: usize,
    style: Style,
    anchor: usize,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map {
        entries: Vec<(Key, Node)>,
        key: Option<Key>,
        /// The offset of every key so far.
        seen: HashMap<String, usize>,
    },
}

struct Tree<'a> {
    places: &'a Places<'a>,
    root: Option<Node>,
    documents: usize,
    frames: Vec<Frame>,
    anchors: HashMap<usize, Anchored>,
    budget: Budget,
    /// Anchored nodes are kept twice, so the copies have a budget of their own.
    copies: Budget,
}

impl<'a> Tree<'a> {
    fn new(places: &'a Places<'a>) -> Self {
        Self {
            places,
            root: None,
            documents: 0,
            frames: Vec::new(),
            anchors: HashMap::new(),
            budget: Budget::default(),
            copies: Budget::default(),
        }
    }

    fn finish(self) -> Node {
        let start = self.places.start();
        self.root.unwrap_or(Node {
            value: Value::Null,
            span: start..start,
            style: Style::Plain,
        })
    }

    fn take(&mut self, event: Event<'_>, span: Range<usize>) -> Result<(), YamlError> {
        match event {
            Event::DocumentStart(_) => self.document(span),
            Event::Scalar(text, style, anchor, tag) => {
                let scalar = Scalar {
                    text: text.into_owned(),
                    style: style.into(),
                    anchor,
                    tag: tag.as_deref(),
                };
                self.scalar(scalar, span)
            }
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::SequenceStart(anchor, tag) => {
                self.open(Items::List(Vec::new()), anchor, tag.as_deref(), span)
            }
            Event::MappingStart(anchor, tag) => {
                let items = Items::Map {
                    entries: Vec::new(),
                    key: None,
                    seen: HashMap::new(),
                };
                self.open(items, anchor, tag.as_deref(), span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    fn document(&mut self, span: Range<usize>) -> Result<(), YamlError> {
        self.documents += 1;
        if self.documents > 1 {
            return Err(self
                .places
                .error(span, "more than one document is not allowed"));
        }
        Ok(())
    }

    fn charge(&mut self, weight: Weight, span: &Range<usize>) -> Result<(), YamlError> {
        let charged = self.budget.charge(weight, self.frames.len());
        charged.map_err(|message| self.places.error(span.clone(), message))
    }

    fn scalar(&mut self, scalar: Scalar<'_>, span: Range<usize>) -> Result<(), YamlError> {
        let has_properties = scalar.anchor > 0 || scalar.tag.is_some();
        let reported = span.clone();
        let span = self
            .places
            .scalar(span, scalar.style, has_properties, &scalar.text);
        self.charge(Weight::leaf(scalar.text.len()), &span)?;
        if self.expects_key() {
            return self.scalar_key(scalar, span);
        }
        let value = resolve::scalar(scalar.text, scalar.style, scalar.tag)
            .map_err(|message| self.places.error(reported, message))?;
        let node = Node {
            value,
            span,
            style: scalar.style,
        };
        let end = node.span.end;
        self.add(node, scalar.anchor, end)
    }

    fn expects_key(&self) -> bool {
        let last = self.frames.last().map(|frame| &frame.items);
        matches!(last, Some(Items::Map { key: None, .. }))
    }

    /// Takes a scalar that is a key; it counts as the string that was written.
    fn scalar_key(&mut self, scalar: Scalar<'_>, span: Range<usize>) -> Result<(), YamlError> {
        if scalar.style == Style::Plain && scalar.text.is_empty() {
            return Err(self.places.error(span, "a key is missing"));
        }
        if scalar.style == Style::Plain && scalar.text == "<<" {
            let message = "merge keys (`<<`) are not supported, write the keys out";
            return Err(self.places.error(span, message));
        }
        // Only the name of the tag is looked at: `!!int 1` as a key is `1`.
        resolve::scalar(scalar.text.clone(), scalar.style, scalar.tag)
            .map_err(|message| self.places.error(span.clone(), message))?;
        let node = Node {
            value: Value::String(scalar.text.clone()),
            span: span.clone(),
            style: scalar.style,
        };
        self.anchor(&node, scalar.anchor)?;
        self.key(scalar.text, span)
    }

    fn key(&mut self, name: String, span: Range<usize>) -> Result<(), YamlError> {
        let Some(Frame {
            items: Items::Map { key, seen, .. },
            ..
        }) = self.frames.last_mut()
        else {
            return Ok(());
        };
        if let Some(first) = seen.insert(name.clone(), span.start) {
            let line = self.places.line(first);
            let message = format!("key `{name}` is already set on line {line}");
            return Err(self.places.error(span, message));
        }
        *key = Some(Key { name, span });
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Range<usize>) -> Result<(), YamlError> {
        let name = &self.places.text[span.clone()];
        let Some(anchored) = self.anchors.get(&anchor) else {
            let message = format!("the alias `{name}` stands inside of what it stands for");
            return Err(self.places.error(span, message));
        };
        // Copies only after the budget allows it.
        let charged = self.budget.charge(anchored.weight, self.frames.len());
        charged.map_err(|message| self.places.error(span.clone(), message))?;
        let node = anchored.node.clone();
        if !self.expects_key() {
            return self.add(node, 0, span.end);
        }
        match node.value {
            Value::String(text) => self.key(text, span),
            _ => {
                let message = format!("{} cannot be a key, as `{name}` is", node.kind_name());
                Err(self.places.error(span, message))
            }
        }
    }

    fn open(
        &mut self,
        items: Items,
        anchor: usize,
        tag: Option<&Tag>,
        span: Range<usize>,
    ) -> Result<(), YamlError> {
        self.charge(Weight::leaf(0), &span)?;
        if self.expects_key() {
            return Err(self.places.error(span, "a list or a map cannot be a key"));
        }
        let (expected, bracket) = match items {
            Items::List(_) => ("seq", '['),
            Items::Map { .. } => ("map", '{'),
        };
        resolve::collection(tag, expected)
            .map_err(|message| self.places.error(span.clone(), message))?;
        let (start, style) = self.places.collection(&span, bracket);
        self.frames.push(Frame {
            start,
            end: span.end,
            style,
            anchor,
            items,
        });
        Ok(())
    }

    fn close(&mut self, span: Range<usize>) -> Result<(), YamlError> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        let value = match frame.items {
            Items::List(nodes) => Value::List(nodes),
            Items::Map { entries, .. } => Value::Map(entries),
        };
        // A block ends where the parser has already seen what comes next.
        let end = match frame.style {
            Style::Flow => self.places.text.floor_char_boundary(span.start + 1),
            _ => frame.end,
        };
        let end = end.max(frame.start);
        let node = Node {
            value,
            span: frame.start..end,
            style: frame.style,
        };
        self.add(node, frame.anchor, end)
    }

    /// Puts a finished node, written up to `end`, where it belongs.
    fn add(&mut self, node: Node, anchor: usize, end: usize) -> Result<(), YamlError> {
        self.anchor(&node, anchor)?;
        if let Some(frame) = self.frames.last_mut() {
            frame.end = end;
        }
        match self.frames.last_mut().map(|frame| &mut frame.items) {
            None => self.root = Some(node),
            Some(Items::List(nodes)) => nodes.push(node),
            Some(Items::Map { entries, key, .. }) => {
                if let Some(key) = mem::take(key) {
                    entries.push((key, node));
                }
            }
        }
        Ok(())
    }

    /// Keeps a copy of a node that has an anchor.
    fn anchor(&mut self, node: &Node, anchor: usize) -> Result<(), YamlError> {
        // The parser numbers anchors from 1.
        if anchor == 0 {
            return Ok(());
        }
        let weight = Weight::of(node);
        let charged = self.copies.charge(weight, 0);
        charged.map_err(|message| self.places.error(node.span.clone(), message))?;
        let node = node.clone();
        self.anchors.insert(anchor, Anchored { node, weight });
        Ok(())
    }
}

/// Holds what the parser says about a scalar.
struct Scalar<'a> {
    text: String,
    style: Style,
    anchor: usize,
    tag: Option<&'a Tag>,
}
