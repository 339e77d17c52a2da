//! How much of a large message has been transferred.

/// How much of a message has been transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many bytes of the message have arrived: on the side that sends it, how many are acknowledged. It
    /// begins again at 0 if the message is cut anew, because packets have become much smaller.
    pub done_bytes: usize,
    /// How many bytes the message has on the wire.
    pub total_bytes: usize,
}

/// How much has been transferred of the large messages of one type, in both directions.
///
/// A message is large if it does not fit into a packet. Of several messages that are on their way, each field
/// describes the oldest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageProgress {
    /// The large message that this side sends. `None` if all are acknowledged, or if there are none.
    pub sending: Option<Progress>,
    /// The large message that this side receives. `None` if no part of one has arrived whose other parts are
    /// missing.
    pub receiving: Option<Progress>,
}

impl Progress {
    /// Returns the progress of a message of `total` bits, `done` of which have arrived.
    pub(crate) const fn of_bits(done: usize, total: usize) -> Self {
        let done_bytes = if done == total { total.div_ceil(8) } else { done / 8 };
        Self { done_bytes, total_bytes: total.div_ceil(8) }
    }
}
