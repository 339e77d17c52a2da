//! The system sets in which the plug-in runs.

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;

/// The sets in which the plug-in runs. Your systems can run before or after them. A server reads messages and
/// changes from the world once in each tick, in `FixedPostUpdate`. A client does so once in each frame, in
/// `PostUpdate`.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplSystems {
    /// In `PreUpdate`: entities that have arrived are spawned in the world.
    Receive,
    /// In `PreUpdate`, after [`Receive`](Self::Receive): messages and calls that have arrived can be read.
    Read,
    /// The schedule [`Simulate`](crate::Simulate) runs. On a server this is in `FixedUpdate`, and on a client
    /// in `PreUpdate`, after [`Read`](Self::Read).
    Simulate,
    /// On a client in `PreUpdate`, after [`Simulate`](Self::Simulate): components that are
    /// [interpolated](crate::ReplAppExt::interpolate) are set to the values to show.
    Show,
    /// Messages that your systems have written are passed to the library.
    Write,
    /// After [`Write`](Self::Write): all changed components are compared, and packets are sent. To change
    /// components of the server immediately before that, for example from the state of a physics engine,
    /// order a system before [`Write`](Self::Write). Change detection says which components it must change.
    ///
    /// ```
    /// # use bevy_app::{App, FixedPostUpdate};
    /// # use bevy_ecs::prelude::*;
    /// # use repl_bevy::ReplSystems;
    /// # #[derive(Component)] struct Wheel { turns: f32 }
    /// # #[derive(Component)] struct Speed(f32);
    /// fn measure(mut cars: Query<(&Wheel, &mut Speed), Changed<Wheel>>) {
    ///     cars.iter_mut().for_each(|(wheel, mut speed)| speed.0 = wheel.turns * 2.1);
    /// }
    ///
    /// # fn build(app: &mut App) {
    /// app.add_systems(FixedPostUpdate, measure.before(ReplSystems::Write));
    /// # }
    /// ```
    Send,
}

/// Orders the sets. `sends` is the schedule at whose end the app sends.
pub(crate) fn order(app: &mut App, sends: impl ScheduleLabel) {
    app.configure_sets(
        bevy_app::PreUpdate,
        (ReplSystems::Receive, ReplSystems::Read, ReplSystems::Simulate, ReplSystems::Show).chain(),
    )
    .configure_sets(sends, (ReplSystems::Write, ReplSystems::Send).chain());
}
