//! Metrics in the JSON form of OTLP, and the way to a collector.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{Kind, Metric, Metrics, Number};

/// How long a collector may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Where a collector listens for metrics below its address.
const PATH: &str = "/v1/metrics";

/// Sums since the start, as OTLP numbers it.
const CUMULATIVE: u8 = 2;

/// Metrics did not reach the collector.
#[derive(Debug, thiserror::Error)]
pub enum OtlpError {
    /// Nothing came back.
    #[error("the collector at {endpoint} cannot be reached: {why}")]
    Unreachable {
        /// Where it was looked for.
        endpoint: String,
        /// What went wrong.
        why: String,
    },
    /// It does not want them.
    #[error(
        "the collector at {endpoint} answered with status {status}; it has to take OTLP over HTTP as JSON"
    )]
    Refused {
        /// Where it is.
        endpoint: String,
        /// What it said.
        status: u16,
    },
}

impl Metrics {
    /// Returns all metrics as one OTLP export request.
    #[must_use]
    pub fn to_otlp(&self, started: SystemTime, now: SystemTime) -> Value {
        let metrics: Vec<Value> = self
            .all()
            .iter()
            .map(|(name, metric)| entry(name, *metric, started, now))
            .collect();
        json!({"resourceMetrics": [{
            "resource": {"attributes": [
                {"key": "service.name", "value": {"stringValue": "hookbox"}},
                {"key": "service.version", "value": {"stringValue": env!("CARGO_PKG_VERSION")}},
            ]},
            "scopeMetrics": [{"scope": {"name": "hookbox.hooks"}, "metrics": metrics}],
        }]})
    }

    /// Sends all metrics to a collector, for example at `http://localhost:4318`.
    ///
    /// # Errors
    /// Returns that it cannot be reached, or what it answered.
    pub fn export_otlp(&self, endpoint: &str, started: SystemTime) -> Result<(), OtlpError> {
        let url = format!("{}{PATH}", endpoint.trim_end_matches('/'));
        let body = self.to_otlp(started, SystemTime::now()).to_string();
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .max_redirects(0)
            .build()
            .into();
        let answer = agent
            .post(&url)
            .header("content-type", "application/json")
            .send(body.as_bytes())
            .map_err(|error| OtlpError::Unreachable {
                endpoint: endpoint.to_owned(),
                why: error.to_string(),
            })?;
        match answer.status().as_u16() {
            200..300 => Ok(()),
            status => Err(OtlpError::Refused {
                endpoint: endpoint.to_owned(),
                status,
            }),
        }
    }
}

fn entry(name: &str, metric: Metric, started: SystemTime, now: SystemTime) -> Value {
    let mut point = json!({
        "startTimeUnixNano": nanoseconds(started),
        "timeUnixNano": nanoseconds(now),
    });
    match metric.value {
        // 64-bit numbers are strings in the JSON form of protocol buffers.
        Number::Integer(value) => point["asInt"] = value.to_string().into(),
        Number::Real(value) if value.is_finite() => point["asDouble"] = value.into(),
        Number::Real(value) => {
            point["asDouble"] = format!("{value}").replace("inf", "Infinity").into()
        }
    }
    match metric.kind {
        Kind::Counter => json!({"name": name, "sum": {
            "dataPoints": [point],
            "aggregationTemporality": CUMULATIVE,
            "isMonotonic": true,
        }}),
        Kind::Gauge => json!({"name": name, "gauge": {"dataPoints": [point]}}),
    }
}

fn nanoseconds(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_nanos()
        .to_string()
}
