//! Counters and gauges, shared by all hooks of a run.

#[cfg(feature = "otlp")]
pub mod otlp;
pub(crate) mod prometheus;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Border;
use crate::sandbox::bindings::metrics as wit;
use crate::sandbox::instance::Call;

/// How long a name may be.
const MAX_NAME_BYTES: usize = 256;

/// The value of a counter or gauge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// A whole number.
    Integer(i64),
    /// Any other.
    Real(f64),
}

/// What a metric is to those who draw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Only ever counted up.
    Counter,
    /// Set, or counted down as well.
    Gauge,
}

/// A counter or gauge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub value: Number,
}

/// Hears of every change: the name and where the metric stands now.
pub type Sink = Arc<dyn Fn(&str, Metric) + Send + Sync>;

/// All counters and gauges of a run.
#[derive(Default)]
pub struct Metrics {
    values: Mutex<BTreeMap<String, Metric>>,
    sink: Option<Sink>,
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("Metrics")
            .field(&self.snapshot())
            .finish()
    }
}

/// A metric was not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetricsError {
    /// There are too many names.
    #[error(
        "the metric {name:?} was dropped: the run has {limit} already; raise `metric_names` under `limits:` to have more"
    )]
    TooMany {
        /// The metric that found no place.
        name: String,
        /// How many there may be.
        limit: usize,
    },
    /// The name is too long.
    #[error("a metric's name may have {MAX_NAME_BYTES} bytes; one of {0} bytes was dropped")]
    NameTooLong(usize),
}

impl Metrics {
    /// Makes a set of metrics whose changes somebody hears of.
    #[must_use]
    pub fn heard_by(sink: Option<Sink>) -> Self {
        Self {
            values: Mutex::default(),
            sink,
        }
    }

    /// Adds to a counter of the host's own and returns its new value.
    ///
    /// # Errors
    /// Returns that the name is too long.
    pub fn incr(&self, name: &str, delta: i64) -> Result<Number, MetricsError> {
        self.incr_within(usize::MAX, name, delta)
    }

    /// Sets a gauge of the host's own.
    ///
    /// # Errors
    /// Returns that the name is too long.
    pub fn set(&self, name: &str, value: Number) -> Result<(), MetricsError> {
        self.set_within(usize::MAX, name, value)
    }

    /// Adds to a counter; makes one only while there are fewer than `limit`.
    fn incr_within(&self, limit: usize, name: &str, delta: i64) -> Result<Number, MetricsError> {
        self.update(name, limit, |old| Metric {
            kind: match old {
                Some(metric) if delta >= 0 => metric.kind,
                None if delta >= 0 => Kind::Counter,
                _ => Kind::Gauge,
            },
            value: match old.map(|metric| metric.value) {
                None => Number::Integer(delta),
                Some(Number::Integer(value)) => Number::Integer(value.saturating_add(delta)),
                #[expect(clippy::cast_precision_loss, reason = "a real gauge stays real")]
                Some(Number::Real(value)) => Number::Real(value + delta as f64),
            },
        })
    }

    /// Sets a gauge; makes one only while there are fewer than `limit`.
    fn set_within(&self, limit: usize, name: &str, value: Number) -> Result<(), MetricsError> {
        let kind = Kind::Gauge;
        self.update(name, limit, |_| Metric { kind, value })
            .map(|_| ())
    }

    /// Returns one value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Number> {
        self.lock().get(name).map(|metric| metric.value)
    }

    /// Returns all values, sorted by name.
    #[must_use]
    pub fn snapshot(&self) -> BTreeMap<String, Number> {
        self.lock()
            .iter()
            .map(|(name, metric)| (name.clone(), metric.value))
            .collect()
    }

    /// Returns all counters and gauges, sorted by name.
    #[must_use]
    pub fn all(&self) -> BTreeMap<String, Metric> {
        self.lock().clone()
    }

    /// Writes all metrics in the text format that Prometheus reads.
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        prometheus::text(&self.all())
    }

    fn update(
        &self,
        name: &str,
        limit: usize,
        change: impl FnOnce(Option<Metric>) -> Metric,
    ) -> Result<Number, MetricsError> {
        if name.len() > MAX_NAME_BYTES {
            return Err(MetricsError::NameTooLong(name.len()));
        }
        let metric = self.change(name, limit, change)?;
        // Not under the lock: whoever listens may want to look at the others.
        if let Some(sink) = &self.sink {
            sink(name, metric);
        }
        Ok(metric.value)
    }

    fn change(
        &self,
        name: &str,
        limit: usize,
        change: impl FnOnce(Option<Metric>) -> Metric,
    ) -> Result<Metric, MetricsError> {
        let mut values = self.lock();
        let full = values.len() >= limit;
        match values.entry(name.to_owned()) {
            Entry::Occupied(mut entry) => {
                let metric = change(Some(*entry.get()));
                entry.insert(metric);
                Ok(metric)
            }
            Entry::Vacant(_) if full => Err(MetricsError::TooMany {
                name: name.to_owned(),
                limit,
            }),
            Entry::Vacant(entry) => Ok(*entry.insert(change(None))),
        }
    }

    /// A panic while holding the lock cannot leave a value half written.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Metric>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl wit::Host for Call {
    fn incr(&mut self, name: String, delta: i64) -> wasmtime::Result<wit::Number> {
        let border = self.enter()?;
        let limit = border.limits().metric_names;
        let request = || json!({"name": name, "delta": delta});
        let counted = border.reel().cross_or("metrics.incr", request, || {
            // A metric too many is dropped: counting is no reason to stop a tool.
            match border.metrics().incr_within(limit, &name, delta) {
                Ok(value) => Counted::from(Figure::from(value)),
                Err(error) => Counted {
                    warning: Some(error.to_string()),
                    ..Figure::Integer(delta).into()
                },
            }
        });
        if let Some(warning) = counted.warning {
            border.warn(&warning);
        }
        Ok(Number::from(counted.value).into())
    }

    fn set(&mut self, name: String, value: wit::Number) -> wasmtime::Result<()> {
        let border = self.enter()?;
        let limit = border.limits().metric_names;
        let value = Number::from(value);
        let request = || json!({"name": name, "value": Figure::from(value)});
        let warning = border.reel().cross_or("metrics.set", request, || {
            let set = border.metrics().set_within(limit, &name, value);
            set.err().map(|error| error.to_string())
        });
        if let Some(warning) = warning {
            border.warn(&warning);
        }
        Ok(())
    }

    fn get(&mut self, name: String) -> wasmtime::Result<Option<wit::Number>> {
        let border = self.enter()?;
        let request = || json!({"name": name});
        let found = border.reel().cross_or("metrics.get", request, || {
            border.metrics().get(&name).map(Figure::from)
        });
        Ok(found.map(|figure| Number::from(figure).into()))
    }

    fn snapshot(&mut self) -> wasmtime::Result<Vec<(String, wit::Number)>> {
        let border = self.enter()?;
        let values = border.reel().cross_or(
            "metrics.snapshot",
            || json!({}),
            || {
                let values = border.metrics().snapshot().into_iter();
                values
                    .map(|(name, value)| (name, Figure::from(value)))
                    .collect::<Vec<_>>()
            },
        );
        Ok(values
            .into_iter()
            .map(|(name, figure)| (name, Number::from(figure).into()))
            .collect())
    }
}

impl Border {
    /// Returns the metrics of the run. What a tape does not know counts from nothing, so
    /// that a replay does not depend on what was replayed before.
    fn metrics(&self) -> Arc<Metrics> {
        if self.reel().plays() {
            return Arc::default();
        }
        Arc::clone(&self.pass.run.metrics)
    }
}

/// A number as it stands on a tape, where `1` and `1.0` are told apart.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Figure {
    Integer(i64),
    Real(f64),
}

/// What came of counting.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Counted {
    value: Figure,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

impl From<Figure> for Counted {
    fn from(value: Figure) -> Self {
        Self {
            value,
            warning: None,
        }
    }
}

impl From<Number> for Figure {
    fn from(number: Number) -> Self {
        match number {
            Number::Integer(value) => Self::Integer(value),
            Number::Real(value) => Self::Real(value),
        }
    }
}

impl From<Figure> for Number {
    fn from(figure: Figure) -> Self {
        match figure {
            Figure::Integer(value) => Self::Integer(value),
            Figure::Real(value) => Self::Real(value),
        }
    }
}

impl From<Number> for wit::Number {
    fn from(number: Number) -> Self {
        match number {
            Number::Integer(value) => Self::Integer(value),
            Number::Real(value) => Self::Real(value),
        }
    }
}

impl From<wit::Number> for Number {
    fn from(number: wit::Number) -> Self {
        match number {
            wit::Number::Integer(value) => Self::Integer(value),
            wit::Number::Real(value) => Self::Real(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_add_up_and_gauges_keep_the_last() {
        let metrics = Metrics::default();
        metrics.incr("a", 1).unwrap();
        assert_eq!(metrics.incr("a", 2), Ok(Number::Integer(3)));
        metrics.set("b", Number::Real(0.5)).unwrap();
        assert_eq!(metrics.incr("b", 1), Ok(Number::Real(1.5)));
        assert_eq!(metrics.incr("a", i64::MAX), Ok(Number::Integer(i64::MAX)));
    }

    #[test]
    fn names_are_bounded_but_known_ones_go_on_counting() {
        let metrics = Metrics::default();
        for index in 0..5 {
            metrics.incr_within(5, &index.to_string(), 1).unwrap();
        }
        assert!(matches!(
            metrics.incr_within(5, "one more", 1),
            Err(MetricsError::TooMany { limit: 5, .. })
        ));
        assert_eq!(metrics.incr_within(5, "3", 1), Ok(Number::Integer(2)));
        assert!(metrics.incr(&"x".repeat(257), 1).is_err());
    }
}
