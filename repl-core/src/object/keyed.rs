//! How a keyed collection is reached, whatever its items.
//!
//! Invariant: pointers that come out of a collection are to its items, whose shape is the one in the collection's own shape; they hold for as
//! long as the borrow that they came from.

use crate::ids::handles::HandleSet;
use crate::ids::item_id::ItemId;
use crate::ids::label::Label;
use crate::schema::erased::{Collection, RawStep};
use crate::schema::keyed::{Keyed, Step};
use crate::schema::limits;
use crate::schema::property::Property;
use crate::schema::shape::{KeyedShape, Kind, Shape};
use std::any::Any;
use std::any::type_name;
use std::ptr;

fn typed<A: Keyed>(other: &dyn Collection) -> &A {
    other.as_any().downcast_ref().expect("a shape reaches collections of one type")
}

impl<A: Keyed> Collection for A {
    fn len(&self) -> usize {
        Keyed::len(self)
    }

    fn preload(&self, id: ItemId) {
        Keyed::preload(self, id);
    }

    fn item(&self, id: ItemId) -> Option<*const u8> {
        Keyed::item(self, id).map(|item| ptr::from_ref(item).cast())
    }

    fn item_mut(&mut self, id: ItemId) -> Option<*mut u8> {
        Keyed::item_mut(self, id).map(|item| ptr::from_mut(item).cast())
    }

    fn label(&self, id: ItemId) -> Option<&Label> {
        Keyed::label(self, id)
    }

    fn received_label(&mut self, id: ItemId, label: Label) {
        Keyed::received_label(self, id, label);
    }

    fn ids(&self) -> Vec<ItemId> {
        let mut ids = Vec::with_capacity(Keyed::len(self));
        Keyed::ids(self, &mut |id| ids.push(id));
        ids.sort_unstable();
        ids
    }

    fn is_abreast(&self, live: &dyn Collection) -> bool {
        Keyed::is_abreast(self, typed(live))
    }

    fn follow(&mut self, live: &dyn Collection, visit: &mut dyn FnMut(ItemId, RawStep)) -> bool {
        Keyed::follow(self, typed(live), &mut |id, step| {
            let step = match step {
                Step::Added { live, shadow } => {
                    RawStep::Added(ptr::from_ref(live).cast(), ptr::from_mut(shadow).cast())
                }
                Step::Touched { live, shadow, moved } => {
                    RawStep::Touched(ptr::from_ref(live).cast(), ptr::from_mut(shadow).cast(), moved)
                }
                Step::Removed => RawStep::Removed,
            };
            visit(id, step);
        })
    }

    fn hold_back(&mut self, id: ItemId) {
        Keyed::hold_back(self, id);
    }

    fn settle(&mut self) {
        Keyed::settle(self);
    }

    fn copy_from(&mut self, other: &dyn Collection, copy: &mut dyn FnMut(*const u8, *mut u8)) {
        Keyed::copy_from(self, typed(other), &mut |from, to| {
            copy(ptr::from_ref(from).cast(), ptr::from_mut(to).cast());
        });
    }

    fn become_replica(&mut self) {
        Keyed::become_replica(self);
    }

    fn own(&mut self) {
        Keyed::own(self);
    }

    fn received_whole(&mut self, id: ItemId) -> *mut u8 {
        ptr::from_mut(Keyed::received_whole(self, id)).cast()
    }

    fn received_change(&mut self, id: ItemId, handles: &HandleSet) {
        Keyed::received_change(self, id, handles);
    }

    fn received_removal(&mut self, id: ItemId) {
        Keyed::received_removal(self, id);
    }

    fn received_sweep(&mut self) {
        Keyed::received_sweep(self);
    }

    fn received_sparing(&mut self, id: ItemId) {
        Keyed::received_sparing(self, id);
    }

    fn received(&mut self, each: &mut dyn FnMut(*mut u8)) {
        Keyed::received(self, &mut |item| each(ptr::from_mut(item).cast()));
    }

    fn has_news(&self) -> bool {
        Keyed::has_news(self)
    }

    fn conclude(&mut self, with_callbacks: bool) {
        Keyed::conclude(self, with_callbacks);
    }

    fn departing(&self, each: &mut dyn FnMut(ItemId)) {
        Keyed::departing(self, each);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn as_ref<A: Keyed>(collection: *const u8) -> *const dyn Collection {
    collection.cast::<A>()
}

fn as_mut<A: Keyed>(collection: *mut u8) -> *mut dyn Collection {
    collection.cast::<A>()
}

fn with_initial<A: Keyed>(with: &mut dyn FnMut(*mut u8)) {
    let mut item = A::Item::initial();
    with(ptr::from_mut(&mut item).cast());
}

/// Gives each collection type its shape as a constant of its own.
pub(crate) trait Shaped: Keyed {
    const KEYED: KeyedShape = KeyedShape {
        element: <Self::Item as Property>::SHAPE,
        max_len: limits::MAX_ITEMS,
        has_callbacks: Self::HAS_CALLBACKS,
        ordered: Self::ORDERED,
        as_ref: as_ref::<Self>,
        as_mut: as_mut::<Self>,
        with_initial: with_initial::<Self>,
    };
}

impl<A: Keyed> Shaped for A {}

impl Shape {
    /// The shape of a collection of identified items.
    #[must_use]
    pub const fn keyed<A: Keyed>(name: &'static str) -> Self {
        let kind = Kind::Keyed(const { &A::KEYED });
        Self { name, rust_name: type_name::<A>, size: size_of::<A>(), bitwise: false, kind }
    }
}
