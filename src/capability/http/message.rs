//! What goes in and out of the door.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::tape::bytes::Bytes;

/// What a hook asks for. Nothing in it is trusted.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method, in upper case.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// Names and values of headers.
    pub headers: Vec<(String, String)>,
    /// The body, empty for none.
    pub body: Vec<u8>,
    /// The longest time the hook wants to wait.
    pub timeout: Option<Duration>,
}

/// What a hook gets back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Headers, with lower-case names.
    pub headers: Vec<(String, String)>,
    /// The body, decompressed.
    #[serde(serialize_with = "write_bytes", deserialize_with = "read_bytes")]
    pub body: Vec<u8>,
    /// The URL that answered, after redirects.
    pub url: String,
}

fn write_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    Bytes(bytes.to_vec()).serialize(serializer)
}

fn read_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    Bytes::deserialize(deserializer).map(|bytes| bytes.0)
}

impl Request {
    /// Returns the request as it stands on a tape. How long the hook would have waited
    /// makes it no other request.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "method": self.method,
            "url": self.url,
            "headers": self.headers,
            "body": Bytes(self.body.clone()),
        })
    }
}
