//! A tracked object: what a connection stores for an object while something of it is unsent or
//! unacknowledged.
//!
//! *Invariant:* only an object that the client has, or is receiving, is behind in the history or in a blob.

use std::time::Duration;

use repl_core::{Changelist, HandleSet, Portions, PropertyIndex};

use super::new_elements::NewElements;
use crate::session::events::CloseReason;
use crate::transport::sequence::Sequence;

/// The phase of an object between server and client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The whole object must be sent: it was not sent yet, or the opening counts as lost. A lost opening may
    /// still have arrived.
    Unsent,
    /// The whole object was sent, and not acknowledged yet.
    Opening,
    /// The client has it.
    #[default]
    Open,
    /// It must be closed, or the close was sent.
    Closing(CloseReason),
}

/// Whether the client knows the current owner and role of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ProxyNews {
    /// It knows them, or the opening will contain them.
    #[default]
    Settled,
    /// They must be sent. Only this packet and later ones can contain them.
    Unsent(Sequence),
    /// They were sent. The first packet is as above, the second is the last one that contains them.
    Sent(Sequence, Sequence),
}

/// What is stored of a tracked object.
#[derive(Debug, Default)]
pub(crate) struct Tracked {
    pub(crate) phase: Phase,
    /// The first packet that may have opened the object, or closed it if it is closing. Earlier packets
    /// carried it when it was open before.
    pub(crate) since: Sequence,
    /// The newest packet with the object's opening or close, or with a part of its blob. Packets are given up
    /// in the order of sending. So until this one is given up, the content of an earlier one need not be sent
    /// again.
    pub(crate) carried: Sequence,
    /// The position in the object's history from which on nothing was sent.
    pub(crate) position: Option<u64>,
    /// What the client lacks besides that: it was lost, or it was not sent because there was no room.
    pub(crate) pending: Changelist,
    /// What did not fit in earlier ticks, at most one entry for each collection or map. The next to send is
    /// first. `pending` is newer, except for lost changes, from which pruning removes what is outdated.
    pub(crate) waiting: Vec<Portions>,
    pub(crate) new_elements: NewElements,
    /// Properties that the client had and may no longer see, with the frame in which that began. Zero: the
    /// client's value may be older than that.
    pub(super) left: Vec<(PropertyIndex, u64)>,
    /// The blob that carries the object, if one does.
    pub(crate) blob: Option<u32>,
    /// Whether the client knows the object's current owner and role.
    pub(crate) proxy: ProxyNews,
    /// Bits of the last opening; zero if there was none.
    pub(crate) open_bits: usize,
    /// Whether an opening that may have arrived had items of collections. Then no later opening may empty
    /// these collections.
    pub(crate) opened_with_items: bool,
    /// Whether an opening that counted as lost was acknowledged late. The client has the object, but what
    /// changed since is unknown, so the whole object is sent again without what only openings contain (S43).
    pub(crate) has_arrived: bool,
    /// Whether the object must be opened again once its close is acknowledged.
    pub(super) reopen: bool,
    /// When its close was first sent.
    pub(super) close_sent_at: Option<Duration>,
}

impl Tracked {
    pub(super) fn is_closing(&self) -> bool {
        matches!(self.phase, Phase::Closing(_))
    }

    /// Whether the client has everything that it may see, or will have it when packets in flight arrive, so
    /// that it can use shared segments. Items of collections may be unacknowledged: they are tracked one by
    /// one.
    pub(super) fn is_settled(&self) -> bool {
        self.phase == Phase::Open
            && !self.lacks_something()
            && self.new_elements.are_items()
            && self.blob.is_none()
            && self.proxy == ProxyNews::Settled
    }

    /// Whether something that changed must still be sent to the client.
    pub(super) fn lacks_something(&self) -> bool {
        self.lacks_values() || matches!(self.proxy, ProxyNews::Unsent(_))
    }

    /// Whether values must still be sent to the client.
    pub(crate) fn lacks_values(&self) -> bool {
        self.position.is_some() || !self.pending.is_empty() || !self.waiting.is_empty()
    }

    /// Whether new elements must still be sent.
    pub(super) fn lacks_new_elements(&self) -> bool {
        self.pending.has_births() || !self.waiting.is_empty()
    }

    /// Whether the opening is sent again with each change until the ack, because it has at most `max_bits`
    /// bits.
    pub(super) fn repeats_opening(&self, max_bits: usize) -> bool {
        self.phase == Phase::Opening && self.open_bits <= max_bits
    }

    /// Removes these properties from what must be sent. Returns whether any was to be sent.
    pub(super) fn drop_pending(&mut self, handles: &HandleSet) -> bool {
        let lacks = self.pending.handles().intersects(handles)
            || self.waiting.iter().any(|portions| portions.is_in(handles));
        self.pending.remove(handles);
        self.waiting.retain(|portions| !portions.is_in(handles));
        lacks
    }

    /// Whether this stores nothing but that the object is settled.
    pub(super) fn is_plain(&self) -> bool {
        self.left.is_empty() && self.new_elements.is_empty()
    }

    /// The frame since which the client has not seen a property; zero if unknown.
    pub(super) fn left_at(&self, property: PropertyIndex) -> u64 {
        self.left.iter().find(|(left, _)| *left == property).map_or(0, |(_, frame)| *frame)
    }

    /// Stores that the client may no longer see a property, or that its value is outdated.
    pub(super) fn set_left(&mut self, property: PropertyIndex, frame: u64) {
        match self.left.iter_mut().find(|(left, _)| *left == property) {
            Some((_, known)) => *known = frame.min(*known),
            None => self.left.push((property, frame)),
        }
    }

    /// About how many bytes this holds on the heap. O(properties).
    pub(super) fn heap_bytes(&self) -> usize {
        let waiting = self.waiting.iter().map(Portions::heap_bytes);
        self.pending.heap_bytes()
            + self.waiting.capacity() * size_of::<Portions>()
            + waiting.sum::<usize>()
            + self.new_elements.heap_bytes()
            + self.left.capacity() * size_of::<(PropertyIndex, u64)>()
    }
}
