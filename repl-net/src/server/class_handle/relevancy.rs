//! A function that decides which connections see the objects of a class, and whether clients keep objects
//! that they no longer see.
//!
//! *Invariant:* an object has `Relevancy::Computed` in its relevancy or in its audience only if its class
//! has a function.

use repl_core::Replicated;

use super::ClassHandle;
use crate::server::out_of_sight::OutOfSight;
use crate::server::priority::Viewer;

impl<T: Replicated> ClassHandle<'_, T> {
    /// Lets a function decide which connections see the objects of the class, as `IsNetRelevantFor` does in
    /// Unreal. The relevancy of objects that are spawned from now on is
    /// [`Computed`](crate::Relevancy::Computed). If the class has an [area](Self::set_area), a connection
    /// must also be near the object: the relevancy is `Relevancy::all([Relevancy::Located,
    /// Relevancy::Computed])`. The function can be a part of any other relevancy, and of the audience of an
    /// object.
    ///
    /// ```
    /// # use repl_core::Replicated;
    /// # use repl_net::{Group, Server};
    /// # type Test<Spy> = fn(&Spy) -> bool;
    /// # fn example<Spy: Replicated>(server: &mut Server, team: fn(&Spy) -> Group, is_open: Test<Spy>) {
    /// let mut spies = server.class::<Spy>();
    /// spies.set_relevancy_by(move |spy, viewer| is_open(spy) || viewer.is_in_group(team(spy)));
    /// # }
    /// ```
    ///
    /// The verdict about an object and a connection is the result of the last call for this pair. The
    /// function is called in a tick, after the comparison of the objects, for each connection and each object
    /// that is new, that the tick has found changed, or that has another owner. It is also called for all
    /// objects of the class and a connection that is new, or whose [viewpoints](Viewer::viewpoints),
    /// [directions](Viewer::directions) or groups have changed. It may read only properties of the object, as
    /// [`locate`](Self::locate) says, and what the [`Viewer`] has. If it reads other state, for example the
    /// time, call [`set_relevancy_period`](Self::set_relevancy_period), or call
    /// [`decide_again`](crate::ObjectHandle::decide_again) when this state has changed. The same tick applies
    /// the verdict, but positions apply one tick later, as [`locate`](Self::locate) says.
    ///
    /// An owner sees its objects whatever the function returns, except if the function is in the
    /// [audience](crate::ObjectHandle::set_audience). Objects that exist already keep their relevancy. A
    /// second call replaces the function. The [host](crate::Server::connect_host) sees every object.
    ///
    /// Costs O(changed objects × connections + changed connections × objects) calls in each tick. For each
    /// pair, the server keeps a bit, which counts as [memory](crate::ConnectionStats::memory_bytes) of the
    /// connection.
    /// [`relevancy_calls`](Self::relevancy_calls) counts the calls.
    ///
    /// # Panics
    /// Panics if the class is not registered.
    #[track_caller]
    pub fn set_relevancy_by(
        &mut self,
        decide: impl Fn(&T, &Viewer<'_>) -> bool + Send + Sync + 'static,
    ) -> &mut Self {
        let class = self.number();
        let world = &mut self.server.world;
        if let Some(shadows) = world.store.shadows_mut::<T>() {
            shadows.decide = Some(Box::new(decide));
        }
        world.functions.class_mut(class).mark_all();
        world.cells.decide_by_function(class);
        self
    }

    /// Sets whether clients keep objects of the class when they may no longer see them. An object can have a
    /// [setting of its own](crate::ObjectHandle::set_out_of_sight). The setting applies to clients that lose
    /// sight of an object from now on.
    ///
    /// ```
    /// # use repl_core::Replicated;
    /// # use repl_net::{OutOfSight, Server};
    /// # fn example<Building: Replicated>(server: &mut Server) {
    /// server.class::<Building>().set_out_of_sight(OutOfSight::kept());
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics if the class is not registered.
    #[track_caller]
    pub fn set_out_of_sight(&mut self, setting: OutOfSight) -> &mut Self {
        let class = self.number();
        self.server.world.out_of_sight.set_class(class, setting);
        self
    }

    /// Lets the [function](Self::set_relevancy_by) of the class be called for each object and connection
    /// once in `ticks` ticks, whether or not they have changed. Each tick calls it for a part of the objects.
    /// For new objects, new connections and objects with another owner, it is still called in the next tick.
    /// With zero, which is the default, the function is called for objects and connections that have changed.
    ///
    /// # Panics
    /// Panics if the class has no [function](Self::set_relevancy_by).
    #[track_caller]
    pub fn set_relevancy_period(&mut self, ticks: u16) -> &mut Self {
        let class = self.number();
        let functions = &mut self.server.world.functions;
        assert!(functions.class(class).is_some(), "{}", no_function(T::LAYOUT.name()));
        let function = functions.class_mut(class);
        function.period_ticks = ticks;
        function.mark_all();
        self
    }

    /// Returns how often the [function](Self::set_relevancy_by) of the class was called so far. Returns zero
    /// if the class has no function.
    #[must_use]
    pub fn relevancy_calls(&self) -> u64 {
        let world = &self.server.world;
        let class = world.store.class_of::<T>();
        class.and_then(|class| world.functions.class(class)).map_or(0, |function| function.calls)
    }
}

/// Returns the message of a panic about a class without a function.
pub(crate) fn no_function(class: &str) -> String {
    format!(
        "`{class}` has no function that decides who sees its objects: call `set_relevancy_by` of `class::<{class}>()` before"
    )
}
