//! How much of a large message has been transferred.

/// How much of a message has been transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many bytes of the message have arrived. On the sending side, how many bytes are acknowledged. The
    /// number begins again at 0 if the message is cut again because packets have become much smaller.
    pub done_bytes: usize,
    /// How many bytes the message has on the wire.
    pub total_bytes: usize,
}

/// How much has been transferred of the large messages of one type, in both directions.
///
/// A message is large if it does not fit into a packet. If several large messages are in transfer, each field
/// describes the oldest message of its direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageProgress {
    /// The large message that this side sends. `None` if there is no large message that is not acknowledged.
    pub sending: Option<Progress>,
    /// The large message that this side receives. `None` if no large message has arrived in part.
    pub receiving: Option<Progress>,
}

impl Progress {
    /// Returns the progress of a message of `total` bits. `done` bits have arrived.
    pub(crate) const fn of_bits(done: usize, total: usize) -> Self {
        let done_bytes = if done == total { total.div_ceil(8) } else { done / 8 };
        Self { done_bytes, total_bytes: total.div_ceil(8) }
    }
}
