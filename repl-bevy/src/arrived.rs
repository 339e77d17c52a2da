//! The marker of components that are interpolated, with the tick of their newest value.

use bevy_ecs::prelude::*;
use std::marker::PhantomData;

/// Marks a component that is interpolated between the values of the server. It contains the tick of the
/// newest value until the interpolation has read this value.
#[derive(Component)]
pub(crate) struct Arrived<T: 'static> {
    pub(crate) tick: Option<u64>,
    /// Whether the newest value is shown at once, because the values before it are unknown.
    pub(crate) is_jump: bool,
    component: PhantomData<fn() -> T>,
}

impl<T> Arrived<T> {
    pub(crate) const fn at(tick: u64) -> Self {
        Self { tick: Some(tick), is_jump: false, component: PhantomData }
    }

    /// Records a newer value.
    pub(crate) fn update(&mut self, tick: u64, is_jump: bool) {
        *self = Self { is_jump: is_jump || self.is_jump, ..Self::at(tick) };
    }
}
