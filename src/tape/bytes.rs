//! Bytes in JSON: as text where they are one that people can read, in base64 otherwise.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Bytes that cross the border.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

/// Control characters would each take many bytes to write.
fn as_text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    (!text.contains(steers)).then_some(text)
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = as_text(&self.0) {
            return serializer.serialize_str(text);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("base64", &STANDARD.encode(&self.0))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Bytes;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text or base64")
            }

            fn visit_str<E>(self, text: &str) -> Result<Bytes, E> {
                Ok(Bytes(text.as_bytes().to_vec()))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Bytes, A::Error> {
                let Some((key, text)) = map.next_entry::<String, String>()? else {
                    return Err(de::Error::missing_field("base64"));
                };
                if key != "base64" {
                    return Err(de::Error::unknown_field(&key, &["base64"]));
                }
                STANDARD.decode(text).map(Bytes).map_err(de::Error::custom)
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_and_texts_can_be_read() {
        for (bytes, json) in [
            (&b"plain\n"[..], r#""plain\n""#),
            (&b""[..], r#""""#),
            (&b"\xff\x00"[..], r#"{"base64":"/wA="}"#),
            (&b"\x1b[31m"[..], r#"{"base64":"G1szMW0="}"#),
        ] {
            let written = serde_json::to_string(&Bytes(bytes.to_vec())).unwrap();
            assert_eq!(written, json);
            let read: Bytes = serde_json::from_str(json).unwrap();
            assert_eq!(read.0, bytes);
        }
    }
}
