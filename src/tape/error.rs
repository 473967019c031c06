//! What can be wrong with a tape. Every message names the record.

use std::path::PathBuf;

use super::Format;

/// Why a tape cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TapeError {
    /// The file cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Reading failed on the way.
    #[error("record {record} cannot be read: {error}")]
    Read {
        /// The record.
        record: u64,
        /// Why.
        error: std::io::Error,
    },
    /// There is nothing in it.
    #[error("the tape is empty; record one with `hookbox run … --tape FILE`")]
    Empty,
    /// It is something else.
    #[error("this is not a tape: {0}")]
    NotATape(String),
    /// It was written by another version.
    #[error(
        "the tape has format {found} and this hookbox reads {}; use hookbox {writer} or newer",
        Format::CURRENT
    )]
    Newer {
        /// Its format.
        found: String,
        /// The version of hookbox that wrote it.
        writer: String,
    },
    /// It was written by a version before.
    #[error(
        "the tape has format {found}, which this hookbox (format {}) no longer reads; hookbox {writer} wrote it and does",
        Format::CURRENT
    )]
    Older {
        /// Its format.
        found: String,
        /// The version of hookbox that wrote it.
        writer: String,
    },
    /// A line is longer than any record.
    #[error("record {record} is longer than the {limit} bytes a record may have")]
    TooLong {
        /// The record.
        record: u64,
        /// What is allowed.
        limit: u64,
    },
    /// A line is no record.
    #[error("record {record} is damaged: {why}")]
    Damaged {
        /// The record.
        record: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A record has another number than its place.
    #[error(
        "record {record} has the number {found}: records were removed, repeated or put in another order"
    )]
    Order {
        /// Its place.
        record: u64,
        /// Its number.
        found: u64,
    },
    /// A record does not follow from the one before.
    #[error(
        "record {record} does not follow the one before it: record {} was changed, or the tape is put together from two",
        record.saturating_sub(1)
    )]
    Chain {
        /// The record.
        record: u64,
    },
    /// The records do not tell a story that can have happened.
    #[error("record {record} does not fit: {why}")]
    Story {
        /// The record.
        record: u64,
        /// Why.
        why: String,
    },
}

/// Why a tape cannot be written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RecordError {
    /// Another process or runtime writes to it.
    #[error("{} is being recorded to by somebody else; record to another file", .0.display())]
    Busy(PathBuf),
    /// What is there is no tape that can be gone on with.
    #[error("{} cannot be recorded to: {why}", path.display())]
    NotATape {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The file cannot be written.
    #[error("{} cannot be written: {why}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}
