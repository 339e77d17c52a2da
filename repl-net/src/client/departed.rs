//! The removed objects that the user can still read. A removed object can be read until the user has polled
//! the update that reports its removal, and then polls the next one.
//!
//! *Invariant:* an object is in the list as long as an update about its removal waits to be polled, or was
//! polled last.

use std::collections::BTreeMap;

use repl_core::{Guid, ObjectRef};

#[derive(Debug, Default)]
pub(crate) struct Departed {
    objects: BTreeMap<Guid, DepartedObject>,
}

/// What the client knows about a removed object, besides its values.
#[derive(Clone, Copy, Debug)]
struct DepartedObject {
    class: u16,
    parent: Option<ObjectRef<()>>,
    /// The number of updates that report a removal of the object and were not polled yet.
    ends: u32,
}

impl Departed {
    /// Adds an object that was removed on the client. `parent` is its parent if it was a subobject. If the
    /// list contains an object with the same guid and another class, returns the class of that object.
    #[must_use]
    pub(crate) fn insert(&mut self, guid: Guid, class: u16, parent: Option<ObjectRef<()>>) -> Option<u16> {
        let object = self.objects.entry(guid).or_insert(DepartedObject { class, parent, ends: 0 });
        (object.parent, object.ends) = (parent, object.ends.saturating_add(1));
        Some(std::mem::replace(&mut object.class, class)).filter(|former| *former != class)
    }

    /// Records that an update about a removal of the object was polled, or will not be made. Returns the
    /// class of the object if no more updates about its removal wait.
    pub(crate) fn remove(&mut self, guid: Guid) -> Option<u16> {
        let object = self.objects.get_mut(&guid)?;
        object.ends = object.ends.saturating_sub(1);
        if object.ends > 0 {
            return None;
        }
        self.objects.remove(&guid).map(|object| object.class)
    }

    /// Returns the class of a removed object that can still be read.
    pub(crate) fn class(&self, guid: Guid) -> Option<u16> {
        self.objects.get(&guid).map(|object| object.class)
    }

    /// Returns the parent of a removed object, if the object was a subobject.
    pub(crate) fn parent(&self, guid: Guid) -> Option<ObjectRef<()>> {
        self.objects.get(&guid)?.parent
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    #[test]
    fn a_guid_that_comes_again_as_another_class_tells_the_former_class() {
        let (mut departed, guid) = (Departed::default(), Guid::new(5, NonZeroU32::MIN));
        assert_eq!(departed.insert(guid, 1, None), None);
        assert_eq!(departed.insert(guid, 1, None), None);
        assert_eq!(departed.insert(guid, 2, None), Some(1));
        assert_eq!([(); 3].map(|()| departed.remove(guid)), [None, None, Some(2)]);
        assert_eq!(departed.class(guid), None);
    }
}
