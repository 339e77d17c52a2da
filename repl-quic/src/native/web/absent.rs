//! What stands for a session of WebTransport without the feature `web`: there is none.
//!
//! *Invariant:* no value of this type exists.

use quinn_proto::{Connection, StreamEvent};

use super::Heard;

#[derive(Debug)]
pub(crate) enum WebSession {}

impl WebSession {
    pub(crate) const PREFIX: &[u8] = &[];

    /// Returns `None`: HTTP/3 is not offered to any browser.
    pub(crate) fn begin(_: &mut Connection) -> Option<Self> {
        None
    }

    pub(crate) fn is_open(&self) -> bool {
        match *self {}
    }

    pub(crate) fn hear(&mut self, _: &mut Connection, _: &StreamEvent) -> Option<Heard> {
        match *self {}
    }

    pub(crate) fn accept(&mut self, _: &mut Connection) {
        match *self {}
    }

    pub(crate) fn end(&mut self, _: &mut Connection, _: u32, _: &str) -> bool {
        match *self {}
    }
}
