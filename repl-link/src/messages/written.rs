//! An encoded message, for one connection or for many.
//!
//! *Invariant:* all connections that send a large message cut its parts from one shared buffer.

use std::sync::Arc;

use repl_core::BitWriter;

use crate::messages::channel::is_bulk;

/// An encoded message.
pub struct Written<'a> {
    bit_len: usize,
    writer: &'a mut BitWriter,
    /// The bytes of the message in a shared buffer, once a connection sends the message in parts.
    shared: Option<Arc<Vec<u8>>>,
}

impl<'a> Written<'a> {
    /// Returns the message that a writer contains.
    pub fn new(writer: &'a mut BitWriter) -> Self {
        Self { bit_len: writer.bit_len(), writer, shared: None }
    }

    /// Returns how many bits the message has.
    pub(super) fn bit_len(&self) -> usize {
        self.bit_len
    }

    /// Returns the bytes of the message. The last byte is padded with zeros.
    pub(super) fn bytes(&mut self) -> &[u8] {
        match &self.shared {
            Some(shared) => shared,
            None => self.writer.finish(),
        }
    }

    /// Returns the bytes of the message in a buffer that all connections share. A bulk message is not copied.
    /// Instead its buffer is taken out of the writer.
    pub(super) fn shared(&mut self) -> Arc<Vec<u8>> {
        let Self { bit_len, writer, shared } = self;
        let make = || {
            let mut bytes = if is_bulk(*bit_len) { writer.take_bytes() } else { writer.finish().to_vec() };
            bytes.shrink_to_fit();
            Arc::new(bytes)
        };
        shared.get_or_insert_with(make).clone()
    }
}
