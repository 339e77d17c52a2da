//! Removes the objects of the previous session when a new session begins.
//!
//! *Invariant:* a session begins without objects, except for torn-off objects. The user can read the last
//! state of each removed object until an update has reported its removal.

use super::Replicas;
use crate::body::forest::Depths;
use crate::body::reassembly::Reassembly;
use crate::body::removal::CloseReason;
use crate::client::validated_entries::ValidatedEntries;

impl Replicas {
    /// Removes all objects, because a new session has begun, in which the server sends again every object
    /// that the client may still see. If it is another server, references to the removed objects never become
    /// valid again.
    pub(crate) fn begin_session(&mut self, is_other_server: bool) {
        let reason = if is_other_server { CloseReason::Destroyed } else { CloseReason::Relevancy };
        self.begin_updates(None);
        self.remove_out_of_sight_beyond(0, reason);
        let mut depths = Depths::new(&self.slots.families);
        let exists = |slot: &u32| self.slots.generation(*slot).is_some();
        let mut slots: Vec<u32> = (0..self.slots.len() as u32).filter(exists).collect();
        // Subobjects are removed before their parents.
        slots.sort_by_cached_key(|&slot| u32::MAX.saturating_sub(depths.of(slot)));
        slots.into_iter().for_each(|slot| _ = self.close(slot, reason));
        self.paths.clear();
        self.slots.assets.begin_session(is_other_server);
        self.contents = ValidatedEntries::default();
        self.reassembly = Reassembly::default();
        // The bits of a map key on the wire identify it, so references in keys cannot have another epoch (an
        // offset that distinguishes the references of different servers).
        let has_epochs = !self.columns.iter().any(|column| column.program().layout().keys_may_refer());
        if is_other_server && !has_epochs {
            // Without epochs, the other server may use the same guids for its own objects.
            self.remove_torn_off_beyond(0);
        }
        self.end_updates();
        self.updates.begin_session();
        self.slots.begin_session(is_other_server, is_other_server && has_epochs);
    }
}
