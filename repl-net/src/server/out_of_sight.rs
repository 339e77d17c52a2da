//! Which objects clients keep when they are out of sight (S241).
//!
//! *Invariant:* the setting decides only what a closing (removal) says. The server does not know which of
//! these objects a client still has, except those of whose end it must tell the client.

use std::collections::BTreeMap;

/// What becomes of a client's copy of an object that the client may no longer see. Set it with
/// [`ClassHandle::set_out_of_sight`](crate::ClassHandle::set_out_of_sight) or
/// [`ObjectHandle::set_out_of_sight`](crate::ObjectHandle::set_out_of_sight).
///
/// By default the client removes the object. If the object is [kept](Self::kept), the client keeps it with
/// the last values that it has received, for example on a map that remains explored. The update for this is
/// [`OutOfSight`](crate::UpdateKind::OutOfSight). While the client does not see the object, the server sends
/// nothing of it. When the client sees it again, it has the same object with its current values, and the
/// update is [`BackInSight`](crate::UpdateKind::BackInSight).
///
/// The client does not learn that an object out of sight was destroyed, except if the setting [says
/// so](Self::until_destroyed). It keeps the object until the server sends another object in the same slot,
/// until the client keeps more than
/// [`max_out_of_sight`](crate::ClientConfig::max_out_of_sight) objects, or until another session begins.
/// Subobjects are kept together with their object, by the setting of the topmost object.
///
/// **A player can read everything that the client keeps**, with a changed program even after the client has
/// removed it. The last position of an enemy who ran away is such a value. What the client never received is
/// not in its memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutOfSight {
    pub(crate) is_kept: bool,
    pub(crate) is_kept_if_hidden: bool,
    pub(crate) is_end_told: bool,
}

impl OutOfSight {
    /// The client removes the object. This is the default.
    #[must_use]
    pub const fn removed() -> Self {
        Self { is_kept: false, is_kept_if_hidden: false, is_end_told: false }
    }

    /// The client keeps the object if its [relevancy](crate::Relevancy) no longer lets the client see it: its
    /// distance, a group or a function.
    ///
    /// It removes the object if it was taken from the client on purpose: if the object, or an object to which
    /// it is attached, is [hidden](crate::ObjectHandle::set_visible), has the relevancy
    /// [`Nobody`](crate::Relevancy::Nobody), has an [audience](crate::ObjectHandle::set_audience) without the
    /// client, or becomes [initially dormant](crate::Dormancy::Initial). Static objects are removed, too.
    #[must_use]
    pub const fn kept() -> Self {
        Self { is_kept: true, ..Self::removed() }
    }

    /// The client keeps the object even if it was taken from the client on purpose, as [`kept`](Self::kept)
    /// describes.
    #[must_use]
    pub const fn even_if_hidden(self) -> Self {
        Self { is_kept_if_hidden: true, ..self }
    }

    /// The clients that keep the object are told at once when it is removed from the server, although they do
    /// not see it. This is the only news about an object out of sight. It costs a bit of memory for each
    /// object that a client keeps.
    #[must_use]
    pub const fn until_destroyed(self) -> Self {
        Self { is_end_told: true, ..self }
    }
}

/// The settings of the classes and objects that have one.
#[derive(Debug, Default)]
pub(crate) struct OutOfSightSettings {
    classes: BTreeMap<u16, OutOfSight>,
    objects: BTreeMap<u32, OutOfSight>,
}

impl OutOfSightSettings {
    pub(crate) fn set_class(&mut self, class: u16, setting: OutOfSight) {
        self.classes.insert(class, setting);
    }

    pub(crate) fn set_object(&mut self, slot: u32, setting: OutOfSight) {
        self.objects.insert(slot, setting);
    }

    /// Drops the setting of an object that is removed from the server.
    pub(crate) fn forget(&mut self, slot: u32) {
        self.objects.remove(&slot);
    }

    /// Returns the setting of an object: its own, or that of its class.
    pub(crate) fn of(&self, slot: u32, class: u16) -> OutOfSight {
        self.objects.get(&slot).or_else(|| self.classes.get(&class)).copied().unwrap_or_default()
    }
}
