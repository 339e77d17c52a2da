//! Properties whose new values would make an object larger than clients can hold.
//!
//! *Invariant:* a property that is refused stays as it is in the shadow, with all of its handles.

use super::Class;
use crate::bits::WriteError;
use crate::diff::item_sizes::ItemSizes;
use crate::diff::refusal::Refusal;
use crate::diff::scale::{Scale, fit};
use crate::ids::handles::HandleSet;
use crate::ids::property_index::PropertyIndex;
use crate::object::equality::{Answer, differs};
use crate::object::level::Level;
use crate::schema::replicated::Replicated;

/// A property of which a new value is to be taken over.
struct Growth {
    property: PropertyIndex,
    handle: u32,
    /// Bits of the new value.
    bits: u64,
    /// How many more these are than the old one's.
    by: i128,
}

impl<T: Replicated> Class<T> {
    /// Takes the properties out of `scope` whose new values would let the object take more than `max_bits`,
    /// and gives them: compared, they would be copied to `shadow`, which is what is sent. Where there is room
    /// for some only, those come first that grow least.
    ///
    /// Costs nothing for classes that cannot grow so large, nor while only numbers change; else O(object).
    pub fn keep_within(&self, max_bits: u64, live: &T, shadow: &T, scope: &mut HandleSet) -> Vec<Refusal> {
        if self.sizes().most_bits <= max_bits {
            return Vec::new();
        }
        let (live, shadow) = (self.level(live), self.level(shadow));
        if !self
            .sizes()
            .varying
            .iter()
            .any(|handle| scope.contains(handle) && differs(live, shadow, handle, Answer::Shadow))
        {
            return Vec::new();
        }
        let (bits, growths) = self.growths(live, shadow, scope);
        let mut refusals = Vec::new();
        for growth in fit(bits, max_bits, growths, |growth| growth.by) {
            scope.difference(&self.lifetime().handles_of(growth.property));
            let error = WriteError::TooLarge {
                bytes: growth.bits.div_ceil(8) as usize,
                max: (max_bits / 8) as usize,
            };
            refusals.push(Refusal { steps: vec![growth.handle], error });
        }
        refusals
    }

    /// Holds items of collections and entries of maps to what one object may take, if each is sent alone:
    /// [`compare`](Self::compare) refuses what makes them larger.
    pub fn hold_items_within(&mut self, max_bits: u64) {
        let sizes = ItemSizes::within(max_bits, self.program());
        self.sizes_mut().items = sizes;
    }

    /// What an object takes at most, in bits, if all of it is sent. O(its values of no fixed width).
    #[must_use]
    pub fn most_bits_of(&self, object: &T) -> u64 {
        let varying = Scale::default().values(self.level(object), &self.sizes().varying);
        self.sizes().fixed_bits.saturating_add(varying)
    }

    /// What the object takes by its shadow, and how the properties in `scope` that vary would change that,
    /// those that grow least first.
    fn growths(&self, live: Level<'_>, shadow: Level<'_>, scope: &HandleSet) -> (u64, Vec<Growth>) {
        let (mut scale, mut total, mut growths) = (Scale::default(), self.sizes().fixed_bits, Vec::new());
        let mut last = None;
        for handle in self.sizes().varying.iter() {
            let property = self.lifetime().property_of(handle);
            let Some(property) = property.filter(|&property| last != Some(property)) else { continue };
            last = Some(property);
            let mut handles = self.lifetime().handles_of(property);
            handles.intersect(&self.sizes().varying);
            let before = scale.values(shadow, &handles);
            total = total.saturating_add(before);
            if !scope.contains(handle) {
                continue;
            }
            scale.found_formless = false;
            let mut bits = scale.values(live, &handles);
            if scale.found_formless {
                // What has no form stays as it is in the shadow.
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
