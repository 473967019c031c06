//! Counters and gauges, shared by all hooks of a run.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::bindings::hookbox::hook::metrics as wit;
use crate::host;

/// The value of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Real(f64),
}

impl Number {
    /// Returns the number with a fraction, rounded if it is large.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Integer(number) => number as f64,
            Self::Real(number) => number,
        }
    }
}

/// Adds to a counter, which starts at 0, and returns its new value.
pub fn incr(name: &str, by: i64) -> Number {
    host::metrics::incr(name, by).into()
}

/// Sets a gauge.
pub fn set(name: &str, value: impl Into<Number>) {
    host::metrics::set(name, value.into().into());
}

/// Returns one value.
#[must_use]
pub fn get(name: &str) -> Option<Number> {
    host::metrics::get(name).map(Into::into)
}

/// Returns all values, sorted by name.
#[must_use]
pub fn snapshot() -> Vec<(String, Number)> {
    host::metrics::snapshot()
        .into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect()
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for Number {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<wit::Number> for Number {
    fn from(number: wit::Number) -> Self {
        match number {
            wit::Number::Integer(number) => Self::Integer(number),
            wit::Number::Real(number) => Self::Real(number),
        }
    }
}

impl From<Number> for wit::Number {
    fn from(number: Number) -> Self {
        match number {
            Number::Integer(number) => Self::Integer(number),
            Number::Real(number) => Self::Real(number),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(formatter),
            Self::Real(number) => number.fmt(formatter),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Real(number) => serializer.serialize_f64(*number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_count_and_gauges_stay() {
        assert_eq!(incr("count", 2), Number::Integer(2));
        assert_eq!(incr("count", 1), Number::Integer(3));
        set("gauge", 2.5);
        set("whole", 7);
        assert_eq!(get("gauge"), Some(Number::Real(2.5)));
        assert_eq!(get("none"), None);
        let names: Vec<String> = snapshot().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["count", "gauge", "whole"]);
    }

    #[test]
    fn numbers_are_written_as_numbers() {
        assert_eq!(serde_json::to_string(&Number::Integer(7)).unwrap(), "7");
        assert_eq!(serde_json::to_string(&Number::Real(2.5)).unwrap(), "2.5");
        assert_eq!(Number::Integer(7).to_string(), "7");
        assert!((Number::Integer(7).as_f64() - 7.0).abs() < f64::EPSILON);
    }
}
