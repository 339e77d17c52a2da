//! A live object, its shadow (the values of its last comparison) and one client's copy. Updates reach the
//! copy as bits, without packets.
//!
//! *Invariant:* each update is applied before the next one is built, so after `apply` the copy equals the
//! shadow.

use repl::tools::{Changelist, Checked, Class, HandleSet, Scratch};
use repl::{BitWriter, NoObjects, ReferenceMap, Replicated};

/// An object on the server and on a client.
pub(crate) struct Link<T: Replicated> {
    class: Class<T>,
    pub(crate) live: T,
    shadow: T,
    pub(crate) replica: T,
    list: Changelist,
    writer: BitWriter,
    checked: Checked,
    scratch: Scratch,
    all: HandleSet,
}

impl<T: Replicated> Link<T> {
    /// Returns a link whose client's copy equals `live`.
    pub(crate) fn new(live: T) -> Self {
        let class = Class::<T>::new();
        let mut replica = T::initial();
        class.make_replica(&mut replica);
        let mut link = Self {
            live,
            shadow: class.shadow_of(&T::initial()),
            replica,
            list: Changelist::new(),
            writer: BitWriter::new(),
            checked: Checked::new(),
            scratch: Scratch::default(),
            all: class.conditions().ordinary().clone(),
            class,
        };
        link.build();
        link.apply();
        link
    }

    /// Compares the object with its shadow, and writes the changes.
    pub(crate) fn build(&mut self) {
        let Self { class, live, shadow, list, writer, scratch, all, .. } = self;
        list.clear();
        class.compare(live, shadow, all, list, &mut Vec::new(), scratch);
        writer.clear();
        class.write_values(shadow, list, writer).expect("what was compared has a form");
    }

    /// Validates the last written update and applies it to the client's copy.
    pub(crate) fn apply(&mut self) {
        let Self { class, replica, list, writer, checked, .. } = self;
        let mut references = ReferenceMap::new(&NoObjects);
        let (reader, handles) = (writer.as_slice().reader(), list.handles());
        checked.clear();
        class
            .validate(Some(replica), handles, &mut reader.clone(), &mut references, checked)
            .expect("what was written can be read");
        class.apply(replica, handles, checked.take(&mut reader.clone()), &mut references, &mut ());
        class.conclude(replica, true);
    }

    /// Returns the bytes of the last update, rounded up.
    pub(crate) fn bytes(&self) -> u64 {
        self.writer.bit_len().div_ceil(8) as u64
    }
}
