//! The ticks of the server: a tick finds the changes once for all connections, and then makes the packets of
//! each connection.
//!
//! *Invariant:* the changes of a tick are sent, or stored as unsent for a connection, before the next tick
//! compares anything.

use std::time::Duration;

use repl_core::ObjectRef;

use super::Server;
use super::peer::preloaded_for_losses;
use super::work_limit::{Work, WorkLimit};
use crate::session::events::ServerEvent;
use crate::telemetry;

impl Server {
    /// Runs the remote calls that were not polled, compares all objects that may have changed, and makes the
    /// packets of this tick. The argument `now` is the time since a fixed start that you choose, not the time
    /// since the last tick. Pass `start.elapsed()`, with one `start = Instant::now()` for the whole game.
    /// Pass times of the same clock to all functions of the server. `now` must never decrease: if it does,
    /// the server's time does not advance until `now` is greater again.
    ///
    /// A change of an object is not sent before the next tick. Call `tick` in every frame, even if no object
    /// has changed.
    ///
    /// The cost is O(changes), not O(objects). In a tick without changes, connections whose clients have
    /// everything cost nothing, except for their keep-alive packets.
    ///
    /// If the body of a remote call panics and your program catches the panic, only this call is lost. If
    /// another function of yours panics in a tick, for example a serialiser, changes of this tick may never
    /// reach clients. Do not use the server after such a panic.
    ///
    /// With the feature `rayon`, two parts of a tick run on the threads of the current `rayon` pool: the
    /// comparisons of several classes, if many objects may have changed, and the packets, if there are more
    /// than eight connections. The default pool has as many threads as the processor has cores. To use
    /// another pool, call `tick` in `ThreadPool::install`. The packets are the same for any number of
    /// threads.
    ///
    /// With the feature `tracing`, a tick logs a warning if more than
    /// [`timeout`](crate::ServerConfig::timeout) has passed since the last tick.
    ///
    /// # Panics
    /// Panics in debug builds if `now` cannot be the time since a fixed start: if it decreased in 100 ticks,
    /// if it is 5 s or more behind an earlier time in 100 consecutive ticks, or if it is the same and not
    /// zero in 1,000 consecutive ticks in which packets have arrived.
    #[track_caller]
    pub fn tick(&mut self, now: Duration) {
        self.run_tick(now, None);
    }

    /// Does the same as [`tick`](Self::tick), but limits the work: `goes_on` decides whether the tick goes
    /// on. It is asked before each [`Work`] that can wait: before up to 64 objects are compared, and before a
    /// connection is served. After the answer `false`, the tick compares no more objects, or serves no more
    /// connections. The library reads no clock, so the function can read one, or count:
    ///
    /// ```
    /// # use repl_net as repl;
    /// use repl::{Server, ServerConfig, Work};
    /// use std::time::{Duration, Instant};
    ///
    /// # let mut server = Server::new(ServerConfig::default());
    /// # let now = Duration::ZERO;
    /// let start = Instant::now();
    /// server.tick_while(now, |_| start.elapsed() < Duration::from_millis(8));
    ///
    /// server.tick_while(now, |work| match work {
    ///     Work::Objects(compared) => compared + 64 <= 2_000,
    ///     Work::Connections(served) => served < 20,
    ///     _ => true,
    /// });
    /// ```
    ///
    /// What does not fit goes first in the next ticks, in rounds: every object that was left over is compared
    /// before the objects that change later, and every connection has a turn before any has its next. A tick
    /// compares at least 64 objects and serves at least one connection, whatever the function returns. So of
    /// `n` objects that may have changed, each is compared after at most `n / 32 + 2` ticks, and of `n`
    /// connections each is served after at most `2 n` ticks, and sooner if the function allows more. An
    /// object that was not compared keeps its old values on all clients, and its next comparison finds all of
    /// its changes. A connection that was not served receives what it missed at its next turn, merged.
    /// [`connections_per_tick`](crate::ServerConfig::connections_per_tick) applies, too.
    ///
    /// Some work cannot wait: the first comparison of new objects, the last one of objects that are torn off,
    /// and comparisons that clients need before they receive an object for the first time. Calls, acks and
    /// keep-alive packets do not wait either. To give more time to what matters, set [update
    /// rates](crate::ClassHandle::set_update_rate) for the rest, which also keep objects from being compared.
    ///
    /// The function is called on the thread of the caller, so with the feature `rayon` such a tick uses only
    /// this thread. If the function always returns `true`, the packets are the same as those of `tick`,
    /// except for the choices of `connections_per_tick`.
    ///
    /// # Panics
    /// Panics in the same cases as [`tick`](Self::tick).
    #[track_caller]
    pub fn tick_while(&mut self, now: Duration, mut goes_on: impl FnMut(Work) -> bool) {
        self.run_tick(now, Some(WorkLimit::new(&mut goes_on)));
    }

    #[track_caller]
    fn run_tick(&mut self, now: Duration, mut limit: Option<WorkLimit<'_>>) {
        telemetry::span!(DEBUG, "server_tick", tick = self.world.frame + 1);
        #[cfg(feature = "metrics")]
        let sent_before = self.sent();
        let now = self.sessions.begin_tick(now);
        telemetry::note_jump(self.sessions.jump());
        self.report_truncation();
        for at in 0..self.runners.len() {
            self.runners[at](self, now);
        }
        let mut findings = Vec::new();
        for peer in preloaded_for_losses(self.sessions.peers.awake_mut(now)) {
            peer.connection.declare_lost(&mut self.world, now);
            peer.connection.note_repeated_openings(&mut self.world);
            findings.extend(peer.probe(now).map(|finding| (peer.connection.id(), finding)));
        }
        findings.into_iter().for_each(|(id, finding)| self.found_path(id, finding));
        self.update_cells();
        self.world.begin_tick(now);
        let woken = {
            telemetry::span!(DEBUG, "compare");
            self.world.compare(limit.as_mut())
        };
        self.reconsider(&woken);
        self.call_functions();
        self.decide_views();
        self.world.find_due();
        self.report_refusals();
        self.inform_host();
        let before = self.begin_look();
        let ends = self.send(limit);
        self.end_look(before);
        self.passes.free_unneeded(&mut self.world);
        ends.into_iter().for_each(|(id, reason)| self.close(id, reason));
        #[cfg(feature = "metrics")]
        self.count_tick(sent_before);
        self.sessions.remove_ended();
    }

    #[cfg(feature = "metrics")]
    fn sent(&self) -> telemetry::Sent {
        let mut sent = telemetry::Sent::default();
        for peer in self.sessions.peers.values() {
            let link = &peer.connection.link;
            sent.packets += link.outbox.queue.packets_sent;
            sent.bytes += link.outbox.queue.bytes_sent;
            sent.packets_lost += link.health.packets_lost;
        }
        sent
    }

    /// Reports this tick to the metrics. Costs O(connections + classes + changed objects).
    #[cfg(feature = "metrics")]
    fn count_tick(&self, before: telemetry::Sent) {
        let connections = self.sessions.ids().count() + usize::from(self.host.is_some());
        telemetry::count_tick(connections, before, self.sent());
        let mut changed = vec![0; self.world.store.columns().count()];
        for change in self.world.changes.as_slice() {
            changed[usize::from(self.world.store.occupant(change.slot).class)] += 1;
        }
        for (column, changed) in self.world.store.columns().zip(changed) {
            telemetry::count_class(column.program().layout().name(), column.objects(), changed);
        }
    }

    /// Reports the values that this tick could not send.
    fn report_refusals(&mut self) {
        for (slot, refusal) in std::mem::take(&mut self.world.changes.found.refusals) {
            let occupant = self.world.store.occupant(slot);
            let column = self.world.store.column(occupant.class);
            let layout = column.program().layout();
            let class = layout.name();
            let object = ObjectRef::<()>::new(occupant.guid(slot));
            telemetry::event!(WARN, object = %self.object_info(object), error = %refusal.error, "a value cannot be sent");
            #[cfg(feature = "metrics")]
            telemetry::count_refusal(class);
            self.events.push(ServerEvent::ValueRefused {
                object,
                class,
                property: column
                    .conditions()
                    .property_of(refusal.handle())
                    .map_or("?", |p| layout.property_name(p)),
                path: refusal.path(layout),
                error: refusal.error,
            });
        }
    }
}
