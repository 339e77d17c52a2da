//! A tracked object: the state that a connection stores about an object while something of the object is
//! unsent or unacknowledged, or while the client keeps old values of properties that it may no longer see.
//!
//! *Invariant:* a connection has a position in the history of an object, or a blob with an update of it, only
//! if the client has the object or is receiving it.

use std::time::Duration;

use repl_core::{Changelist, HandleSet, Portions, PropertyIndex};
use repl_link::parts::Sequence;

use super::new_elements::NewElements;
use crate::body::removal::CloseReason;
use crate::server::openings::SMALL_OPEN_BITS;

/// The phase of an object on one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The opening (first update) of the object must be sent: no opening was sent yet, or the last one counts
    /// as lost. An opening that counts as lost may nevertheless have arrived.
    Unsent,
    Opening,
    #[default]
    Open,
    /// The client must remove the object: its closing must be sent, or was sent and is not acknowledged yet.
    Closing(CloseReason),
}

/// Whether the client knows the current owner and role of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ProxyState {
    /// The client knows the owner and role, or the object's opening (first update) will contain them.
    #[default]
    UpToDate,
    /// The owner and role must be sent. Only the packet with this number and later packets can contain the
    /// current owner and role.
    Unsent(Sequence),
    /// The owner and role were sent, but are not acknowledged yet. The first number has the same meaning as
    /// in `Unsent`. The second number is the number of the last packet that contains the owner and role.
    Sent(Sequence, Sequence),
}

/// What else the connection does after the ack of an object's closing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AfterClosing {
    #[default]
    Nothing,
    /// The object must be sent again.
    Reopen,
    /// The client has removed the subobjects, which had no closings of their own.
    FamilyIsGone,
}

/// The state of a tracked object.
#[derive(Debug, Default)]
pub(crate) struct Tracked {
    pub(crate) phase: Phase,
    /// The number of the first packet that may contain the object's opening. If the object is being closed,
    /// this is the number of the first packet that may contain its closing. Openings and closings in earlier
    /// packets belong to an earlier time at which the client had the object.
    pub(crate) since: Sequence,
    /// The number of the newest packet with the object's opening or closing, or with a part of its blob (data
    /// in several parts). Packets are declared lost in the order of sending, so the content of earlier
    /// packets is not sent again before this packet is declared lost.
    pub(crate) carried: Sequence,
    /// The connection's position in the object's history: the changes from this position on were not sent.
    pub(crate) position: Option<u64>,
    /// Changes that the client lacks in addition to the changes in the object's history after `position`, for
    /// example because they were lost or there was no room for them.
    pub(crate) pending: Changelist,
    /// Changes that did not fit into packets in earlier ticks, with at most one list entry for each
    /// collection or map. The first entry is sent next. Changes in `pending` are newer, unless they were
    /// lost. Changes of removed items are dropped before sending.
    pub(crate) portions: Vec<Portions>,
    pub(crate) new_elements: NewElements,
    /// The collections whose elements were too large for an opening of the object, and which conditions may
    /// hide after the opening (S43). Until these elements have arrived, they are sent as if they were in the
    /// opening. In a box, because most objects have none.
    pub(super) owed: Option<Box<HandleSet>>,
    /// Properties that the client had and may no longer see, each with the frame (number of the tick) in
    /// which the client last saw the property. The stored frame is zero if the client's value may be even
    /// older.
    pub(super) left: Vec<(PropertyIndex, u64)>,
    /// The id of the blob with an update of the object, if there is one.
    pub(crate) blob: Option<u32>,
    /// The number of bytes of the blob that could not begin when the object was last sent, because too many
    /// blobs were in flight. Zero if nothing of the object waits for this.
    pub(super) waiting_blob_bytes: usize,
    /// The first handle of the property that was last sent as a blob (data in several parts), or zero if
    /// there was none.
    pub(crate) last_large: u32,
    /// Whether the client knows the object's current owner and role.
    pub(crate) proxy: ProxyState,
    /// The number of bits of the last opening (first update) of the object, or zero if there was none.
    pub(crate) open_bits: usize,
    /// Whether an opening of the object that may have arrived contains items of collections. After an opening
    /// with items, a later opening must not empty the collections.
    pub(crate) opened_with_items: bool,
    /// Whether a late ack has arrived for an opening of the object that counted as lost. The client then has
    /// the object, but the connection does not know which changes the client lacks. After such a late ack,
    /// the connection sends the whole object again, without the properties that only openings contain (S43).
    pub(crate) arrived_late: bool,
    pub(super) after_closing: AfterClosing,
    /// The time when the closing (removal) of the object was first sent or first waited for the calls on the
    /// object. It begins again when a part of the closing arrives.
    pub(super) closing_since: Option<Duration>,
}

impl Tracked {
    pub(super) fn is_closing(&self) -> bool {
        matches!(self.phase, Phase::Closing(_))
    }

    /// Returns whether nothing of the object was ever sent.
    pub(super) fn is_untouched(&self) -> bool {
        self.phase == Phase::Unsent && self.open_bits == 0
    }

    /// Returns whether the client has all values of the object that it may see, or will have them when the
    /// packets in flight arrive. If the result is true, shared segments can update the object. Items of
    /// collections may still be unacknowledged, because they are tracked one by one.
    pub(super) fn is_up_to_date(&self) -> bool {
        self.has_nothing_to_send() && self.new_elements.are_items()
    }

    /// Returns whether the client has the object and nothing of it must be sent. New elements may still be
    /// unacknowledged: they are in flight, or were lost and may not be sent now.
    pub(super) fn has_nothing_to_send(&self) -> bool {
        self.phase == Phase::Open
            && !self.lacks_something()
            && self.blob.is_none()
            && self.proxy == ProxyState::UpToDate
    }

    /// Returns whether the client has all values of the object or they are in flight. New elements may be
    /// unacknowledged.
    pub(super) fn has_all_but_elements(&self) -> bool {
        !self.lacks_values() && self.blob.is_none() && self.owed.is_none() && self.new_elements.is_empty()
    }

    pub(super) fn lacks_something(&self) -> bool {
        self.lacks_values() || matches!(self.proxy, ProxyState::Unsent(_))
    }

    /// Returns whether values of the object must still be sent to the client.
    pub(crate) fn lacks_values(&self) -> bool {
        self.position.is_some() || !self.pending.is_empty() || !self.portions.is_empty()
    }

    pub(super) fn lacks_new_elements(&self) -> bool {
        self.pending.has_new_elements() || !self.portions.is_empty()
    }

    /// Returns whether each change sends the opening (first update) of the object again until the ack,
    /// because the opening is small.
    pub(crate) fn repeats_opening(&self) -> bool {
        self.phase == Phase::Opening && self.open_bits <= SMALL_OPEN_BITS
    }

    /// Removes the properties `handles` from the changes that must be sent. Returns whether any property in
    /// `handles` had to be sent.
    pub(super) fn drop_pending(&mut self, handles: &HandleSet) -> bool {
        let lacks =
            self.pending.handles().intersects(handles) || self.portions.iter().any(|one| one.is_in(handles));
        self.pending.remove(handles);
        self.portions.retain(|one| !one.is_in(handles));
        lacks
    }

    /// Drops the collections in `owed` whose elements have arrived.
    pub(super) fn drop_arrived_owed(&mut self) {
        let Some(owed) = self.owed.as_ref().filter(|_| self.phase == Phase::Open) else { return };
        let Self { pending, portions, new_elements, .. } = self;
        let is_left = |handle: &u32| {
            let handles: HandleSet = std::iter::once(*handle).collect();
            pending.handles().contains(*handle)
                || portions.iter().any(|one| one.is_in(&handles))
                || new_elements.are_in(&handles)
        };
        let left: HandleSet = owed.iter().filter(is_left).collect();
        self.owed = (!left.is_empty()).then(|| Box::new(left));
    }

    /// Returns whether the client keeps no values that it may not see now, and has acknowledged all new
    /// elements. Such an object need not be tracked if it is up to date.
    pub(super) fn is_plain(&self) -> bool {
        self.left.is_empty() && self.new_elements.is_empty()
    }

    /// Returns the frame (number of the tick) in which the client last saw a property, or zero if this frame
    /// is not known.
    pub(super) fn left_at(&self, property: PropertyIndex) -> u64 {
        self.left.iter().find(|(left, _)| *left == property).map_or(0, |(_, frame)| *frame)
    }

    /// Stores that the client may no longer see a property, or that the value that the client has is
    /// outdated.
    pub(super) fn set_left(&mut self, property: PropertyIndex, frame: u64) {
        match self.left.iter_mut().find(|(left, _)| *left == property) {
            Some((_, known)) => *known = frame.min(*known),
            None => self.left.push((property, frame)),
        }
    }

    /// Returns about how many bytes the state takes on the heap. Costs O(properties).
    pub(super) fn heap_bytes(&self) -> usize {
        let portions = self.portions.iter().map(Portions::heap_bytes);
        self.pending.heap_bytes()
            + self.portions.capacity() * size_of::<Portions>()
            + portions.sum::<usize>()
            + self.new_elements.heap_bytes()
            + self.left.capacity() * size_of::<(PropertyIndex, u64)>()
            + self.owed.as_ref().map_or(0, |owed| size_of::<HandleSet>() + owed.heap_bytes())
    }
}
