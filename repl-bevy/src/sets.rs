//! The system sets in which the plug-in runs.

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;

/// The sets in which the plug-in runs: your systems can run before or after them. A server takes messages and
/// changes from the world in `FixedPostUpdate`, once in each tick, and a client in `PostUpdate`.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplSystems {
    /// In `PreUpdate`: entities that have arrived are spawned in the world.
    Receive,
    /// In `PreUpdate`, after [`Receive`](Self::Receive): messages and calls that have arrived can be read.
    Read,
    /// The [simulation](crate::Simulate) runs. On a server this is in `FixedUpdate`, and on a client in
    /// `PreUpdate`, after [`Read`](Self::Read).
    Simulate,
    /// On a client in `PreUpdate`, after [`Simulate`](Self::Simulate): components that are
    /// [interpolated](crate::ReplAppExt::interpolate) get the values to show.
    Show,
    /// Messages that were written are taken.
    Write,
    /// After [`Write`](Self::Write): what has changed is sent.
    Send,
}

/// Orders the sets. The app sends at the end of the schedule `sends`.
pub(crate) fn order(app: &mut App, sends: impl ScheduleLabel) {
    app.configure_sets(
        bevy_app::PreUpdate,
        (ReplSystems::Receive, ReplSystems::Read, ReplSystems::Simulate, ReplSystems::Show).chain(),
    )
    .configure_sets(sends, (ReplSystems::Write, ReplSystems::Send).chain());
}
