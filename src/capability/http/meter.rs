//! Counts the bytes of each response and stops a server that sends too many.

use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

use super::error::HttpError;

/// Puts a meter on every connection.
#[derive(Debug)]
pub(super) struct MeterConnector {
    /// How many bytes one response may have on the wire.
    pub(super) most: usize,
    /// How many bytes the head of a response may have; the size of the input buffer.
    pub(super) head: usize,
}

impl<In: Transport> Connector<In> for MeterConnector {
    type Out = Metered<In>;

    fn connect(
        &self,
        _: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        Ok(chained.map(|inner| Metered {
            inner,
            most: self.most,
            head: self.head,
            seen: 0,
        }))
    }
}

/// A connection with a meter.
#[derive(Debug)]
pub(super) struct Metered<In> {
    inner: In,
    most: usize,
    head: usize,
    seen: usize,
}

impl<In: Transport> Transport for Metered<In> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        // The meter is outside of TLS: only a new request is written here, so
        // the other side cannot make it start again.
        self.seen = 0;
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        // The library waits for the whole head before it reads it, so a full
        // buffer that nobody takes from is a head that is too long.
        if self.inner.buffers().input_append_buf().is_empty() {
            let most = self.head;
            return Err(too_large(format!(
                "the response has a head of more than {most} bytes"
            )));
        }
        let before = self.inner.buffers().input().len();
        let progress = self.inner.await_input(timeout)?;
        let after = self.inner.buffers().input().len();
        self.seen = self.seen.saturating_add(after.saturating_sub(before));
        if self.seen > self.most {
            let most = self.most;
            return Err(too_large(format!(
                "the response is more than {most} bytes on the wire"
            )));
        }
        Ok(progress)
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}

fn too_large(text: String) -> Error {
    Error::Other(Box::new(HttpError::TooLarge(text)))
}
