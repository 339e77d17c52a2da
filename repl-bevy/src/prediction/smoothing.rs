//! Smooths the corrections of predicted components.

use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use repl::{Offset, Smoothed};
use std::time::Duration;

/// For each entity with a component of one type, the difference between the shown and the predicted value
/// that remains after corrections.
#[derive(Resource)]
pub(crate) struct Smoothing<T>(Box<dyn Smooth<T>>);

trait Smooth<T>: Send + Sync {
    fn advance(&mut self, elapsed: Duration);
    fn correct(&mut self, entity: Entity, wrong: &T, right: &T);
    fn apply(&self, entity: Entity, component: &mut T);
}

/// The differences that remain in one part of the components, for example in their positions.
struct Corrections<P: Offset, F> {
    none: Smoothed<P>,
    left: EntityHashMap<Smoothed<P>>,
    part: F,
}

impl<T: Clone + 'static> Smoothing<T> {
    pub(crate) fn new<P>(
        half_life: Duration,
        snap: f64,
        part: impl Fn(&mut T) -> &mut P + Send + Sync + 'static,
    ) -> Self
    where
        P: Offset<By: Send + Sync> + Send + Sync + 'static,
    {
        let none = Smoothed::new(half_life, snap);
        Self(Box::new(Corrections { none, left: EntityHashMap::default(), part }))
    }

    /// Reduces the differences, after the time `elapsed` has passed.
    pub(super) fn advance(&mut self, elapsed: Duration) {
        self.0.advance(elapsed);
    }

    /// Records that the value of a component was corrected from `wrong` to `right`.
    pub(super) fn correct(&mut self, entity: Entity, wrong: &T, right: &T) {
        self.0.correct(entity, wrong, right);
    }

    /// Changes a component from its predicted value to its shown value.
    pub(super) fn apply(&self, entity: Entity, component: &mut T) {
        self.0.apply(entity, component);
    }
}

impl<T, P, F> Smooth<T> for Corrections<P, F>
where
    T: Clone,
    P: Offset<By: Send + Sync> + Send + Sync,
    F: Fn(&mut T) -> &mut P + Send + Sync,
{
    fn advance(&mut self, elapsed: Duration) {
        self.left.retain(|_, left| {
            left.advance(elapsed);
            left.distance() > 0.0
        });
    }

    fn correct(&mut self, entity: Entity, wrong: &T, right: &T) {
        let (mut wrong, mut right) = (wrong.clone(), right.clone());
        let left = self.left.entry(entity).or_insert_with(|| self.none.clone());
        left.correct((self.part)(&mut wrong), (self.part)(&mut right));
    }

    fn apply(&self, entity: Entity, component: &mut T) {
        if let Some(left) = self.left.get(&entity) {
            let part = (self.part)(component);
            *part = left.value(part);
        }
    }
}
