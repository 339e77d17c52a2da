//! Decides which remote calls a client may receive now. The server checks this when a call is made, while the
//! call waits, and again before each packet with the call.
//!
//! *Invariant:* a client receives calls on exactly the objects whose state it receives. A call for the owner
//! of an object also requires that the client owns the object. For an object that was removed from the
//! server, the rights at the moment of its removal apply. For an object that was torn off, its owner at that
//! moment applies.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use repl_core::wire::read_guid;
use repl_core::{BitReader, Guid, ObjectRef};
use repl_link::parts::Recipient;

use super::Copies;
use crate::server::world::World;

/// What a connection can do with a remote call now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallVerdict {
    /// The client has the object.
    Send,
    /// The call must wait, because the client does not have the object yet, but will receive it.
    Wait,
    /// The call must be dropped, because the client will not receive the object, or must remove it, or does
    /// not own it any more.
    Drop,
}

pub(crate) struct CallRights<'a> {
    pub(crate) copies: &'a Copies,
    pub(crate) world: &'a World,
}

impl CallRights<'_> {
    /// Returns what can be done now with a call on an object, or with a message that waits for it. Costs
    /// O(log objects).
    pub(crate) fn verdict(&self, object: Guid, recipient: Recipient) -> CallVerdict {
        let was_owner = self.copies.last_rights.was_owner(object);
        let Some(slot) = self.world.store.slot_of(ObjectRef::<()>::new(object)) else {
            let may_receive = was_owner.is_some_and(|was_owner| was_owner || recipient != Recipient::Owner);
            return if may_receive { CallVerdict::Send } else { CallVerdict::Drop };
        };
        let is_owner = || {
            let object = self.world.store.objects.get(slot as usize);
            was_owner.unwrap_or_else(|| object.and_then(|object| object.owner()) == Some(self.copies.id))
        };
        if recipient == Recipient::Owner && !is_owner() {
            CallVerdict::Drop
        } else if self.copies.objects.is_leaving(slot) {
            // The object is leaving: the client may not see it now, but the next tick decides whether the
            // client keeps it.
            CallVerdict::Wait
        } else if self.copies.objects.has_arrived(slot) {
            CallVerdict::Send
        } else if self.copies.objects.is_expected(slot) {
            CallVerdict::Wait
        } else {
            CallVerdict::Drop
        }
    }

    /// Returns whether the client may receive a call in its wire form now. If the verdict is `Wait`, the
    /// client has lost the object since the call was sent, so it may not receive the call.
    pub(crate) fn allow(&self, recipient: Recipient, call: &[u8]) -> bool {
        let object = read_guid(&mut BitReader::new(call)).ok().flatten();
        object.is_some_and(|object| self.verdict(object, recipient) == CallVerdict::Send)
    }
}
