//! Refuses property values that would make an object larger than clients accept.
//!
//! *Invariant:* if a property is refused, the shadow keeps the old values at all handles of the property.

use std::borrow::Cow;

use super::Class;
use super::tables::Tables;
use crate::bits::WriteError;
use crate::diff::item_sizes::ItemSizes;
use crate::diff::refusal::Refusal;
use crate::diff::scale::{Scale, fit};
use crate::ids::handles::HandleSet;
use crate::ids::property_index::PropertyIndex;
use crate::object::equality::{Answer, differs};
use crate::object::level::Level;
use crate::schema::replicated::Replicated;

/// A property with a new value that makes the object larger.
struct Growth {
    property: PropertyIndex,
    handle: u32,
    bits: u64,
    /// How many more bits the new value takes than the old value.
    by: i128,
}

impl<T: Replicated> Class<T> {
    /// Returns whether an object of this class can become larger than `max_bits`, the greatest size of an
    /// object. Costs O(1).
    #[must_use]
    pub fn may_exceed(&self, max_bits: u64) -> bool {
        self.tables.sizes.most_bits > max_bits
    }

    /// Removes from `scope` each property with a new value that would make the object larger than `max_bits`,
    /// and returns these properties as refusals. So a comparison does not copy values that are too large to
    /// `shadow`. They are never sent, because values are sent only from the shadow. If only some of the
    /// properties that grow fit into the limit, the properties that grow least are accepted.
    ///
    /// Costs O(1) if objects of the class cannot become larger than `max_bits`, O(properties) if only values
    /// of fixed size change, and O(object) otherwise.
    pub fn keep_within(
        &self,
        max_bits: u64,
        live: &T,
        shadow: &T,
        scope: &mut Cow<'_, HandleSet>,
    ) -> Vec<Refusal> {
        if !self.may_exceed(max_bits) {
            return Vec::new();
        }
        self.tables.keep_within(max_bits, self.level(live), self.level(shadow), scope)
    }

    /// Limits the size of each item of a collection and of each entry of a map to `max_bits`, the greatest
    /// size of an object. [`compare`](Self::compare) refuses values that would make an item or entry larger.
    pub fn hold_items_within(&mut self, max_bits: u64) {
        self.tables.sizes.items = ItemSizes::within(max_bits, &self.tables.program);
    }

    /// Returns the greatest number of bits that an object can take if all of it is sent. Costs O(values
    /// without a fixed width).
    #[must_use]
    pub fn most_bits_of(&self, object: &T) -> u64 {
        self.tables.most_bits_of(self.level(object))
    }
}

impl Tables {
    fn keep_within(
        &self,
        max_bits: u64,
        live: Level<'_>,
        shadow: Level<'_>,
        scope: &mut Cow<'_, HandleSet>,
    ) -> Vec<Refusal> {
        if !self
            .sizes
            .varying
            .iter()
            .any(|handle| scope.contains(handle) && differs(live, shadow, handle, Answer::Shadow))
        {
            return Vec::new();
        }
        let (bits, growths) = self.growths(live, shadow, scope);
        let mut refusals = Vec::new();
        for growth in fit(bits, max_bits, growths, |growth| growth.by) {
            scope.to_mut().difference(self.conditions.handles_of(growth.property));
            let error = WriteError::TooLarge {
                bytes: growth.bits.div_ceil(8) as usize,
                max: (max_bits / 8) as usize,
            };
            refusals.push(Refusal { steps: vec![growth.handle], error });
        }
        refusals
    }

    fn most_bits_of(&self, object: Level<'_>) -> u64 {
        let varying = Scale::default().values(object, &self.sizes.varying);
        self.sizes.fixed_bits.saturating_add(varying)
    }

    /// Returns the number of bits of the shadow, and the growth of each property of variable size in `scope`,
    /// in ascending order of growth.
    fn growths(&self, live: Level<'_>, shadow: Level<'_>, scope: &HandleSet) -> (u64, Vec<Growth>) {
        let (mut scale, mut total, mut growths) = (Scale::default(), self.sizes.fixed_bits, Vec::new());
        let mut last = None;
        for handle in self.sizes.varying.iter() {
            let property = self.conditions.property_of(handle);
            let Some(property) = property.filter(|&property| last != Some(property)) else { continue };
            last = Some(property);
            let mut handles = self.conditions.handles_of(property).clone();
            handles.intersect(&self.sizes.varying);
            let before = scale.values(shadow, &handles);
            total = total.saturating_add(before);
            if !scope.contains(handle) {
                continue;
            }
            scale.found_formless = false;
            let mut bits = scale.values(live, &handles);
            if scale.found_formless {
                // A value without a wire form does not replace the shadow's value, so the size of the
                // shadow's values is added.
                bits = bits.saturating_add(before);
            }
            let by = i128::from(bits).saturating_sub(before.into());
            if handles.iter().any(|handle| differs(live, shadow, handle, Answer::Shadow)) {
                growths.push(Growth { property, handle, bits, by });
            }
        }
        growths.sort_by_key(|growth| growth.by);
        (total, growths)
    }
}
