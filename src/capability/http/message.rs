//! What goes in and out of the door.

use std::time::Duration;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Headers, with lower-case names.
    pub headers: Vec<(String, String)>,
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// The URL that answered, after redirects.
    pub url: String,
}
