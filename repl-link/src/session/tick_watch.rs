//! Checks for debug builds: they panic if a game loop does not make a call, or passes a time that is not the
//! time since a fixed start.
//!
//! *Invariant:* only the calls and times of the user can cause the panics. The packets of a peer cannot cause
//! them.

use std::time::Duration;

use crate::queue::send_queue::SendQueue;
use crate::session::disconnect::DisconnectReason;
use crate::session::poll_watch::PollWatch;

/// How often a client that never ticked may be polled without result.
const MAX_IDLE_POLLS: u32 = 1_000;
/// In how many ticks the time may be earlier than in the tick before.
const MAX_STEPS_BACK: u32 = 100;
/// How many ticks in a row may have the same time.
const MAX_STANDSTILL: u32 = 1_000;
/// In how many ticks in a row the time may be far behind the latest time that was passed before.
const MAX_BEHIND: u32 = 100;
const FAR_BEHIND: Duration = Duration::from_secs(5);

/// The text of the panic if a server receives packets and never polls.
const POLL_SERVER: &str = "`Server::poll_any_transmit` was never called: call it in every frame until it returns `None`, and send each packet";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    Server,
    Client,
}

impl Watched {
    const fn name(self) -> &'static str {
        match self {
            Self::Server => "Server",
            Self::Client => "Client",
        }
    }
}

/// The packets and polls since the last tick, and the times of the ticks.
#[derive(Debug)]
pub(crate) struct TickWatch {
    watched: Watched,
    /// When the first packet after the last tick was received.
    first_receipt: Option<Duration>,
    /// How many polls there were before the first tick.
    idle_polls: u32,
    polls: PollWatch,
    /// The time that was passed to the last tick.
    last: Option<Duration>,
    /// The shortest time that has passed between two ticks, not counting ticks of the same time.
    shortest_step: Option<Duration>,
    /// In how many ticks the time was earlier than in the tick before.
    steps_back: u32,
    /// How many ticks in a row had the same time.
    standstill: u32,
    /// In how many ticks in a row the time was far behind.
    behind: u32,
}

impl TickWatch {
    pub(crate) fn new(watched: Watched) -> Self {
        Self {
            watched,
            first_receipt: None,
            idle_polls: 0,
            polls: PollWatch::default(),
            last: None,
            shortest_step: None,
            steps_back: 0,
            standstill: 0,
            behind: 0,
        }
    }

    /// Returns the reason why a session has ended. Replaces a timeout by a more exact reason in two cases:
    /// packets wait in the queue and this side never polled any, or the times of all ticks were at least a
    /// quarter of the `timeout` apart.
    pub(crate) fn explained(
        &self,
        reason: DisconnectReason,
        queue: &SendQueue,
        timeout: Duration,
    ) -> DisconnectReason {
        match reason {
            DisconnectReason::Timeout if !self.polls.was_polled() && !queue.is_empty() => {
                DisconnectReason::NeverPolled
            }
            DisconnectReason::Timeout => {
                let apart = self.shortest_step.filter(|step| step.saturating_mul(4) >= timeout);
                apart.map_or(DisconnectReason::Timeout, DisconnectReason::TicksTooFarApart)
            }
            reason => reason,
        }
    }

    pub(crate) fn polled(&mut self) {
        self.polls.polled();
    }

    /// Records that `tick` was called with the time `now`. `latest` is the latest time that was passed to any
    /// earlier call. Returns how much time has passed since the last tick, or zero at the first tick.
    ///
    /// # Panics
    /// Panics in debug builds if the times of the ticks cannot be the time since a fixed start.
    #[track_caller]
    pub(crate) fn ticked(&mut self, now: Duration, latest: Duration) -> Duration {
        let last = self.last.replace(now).unwrap_or(now);
        if cfg!(debug_assertions) {
            self.check_time(now, last, latest);
        }
        self.first_receipt = None;
        let step = now.saturating_sub(last);
        if !step.is_zero() {
            self.shortest_step = Some(self.shortest_step.map_or(step, |shortest| shortest.min(step)));
        }
        step
    }

    #[track_caller]
    fn check_time(&mut self, now: Duration, last: Duration, latest: Duration) {
        let owner = self.watched.name();
        let is_behind = latest.saturating_sub(now) >= FAR_BEHIND;
        self.behind = if is_behind { self.behind.saturating_add(1) } else { 0 };
        assert!(
            self.behind < MAX_BEHIND,
            "`{owner}::tick` got the time {now:?}, but {latest:?} was passed to it or to `receive` before: pass the time since one \
             fixed start, always of the same clock",
        );
        self.steps_back = self.steps_back.saturating_add(u32::from(now < last));
        // The program may tick a server that receives nothing without a real clock, for example always with
        // the same time.
        let counts = self.watched == Watched::Client || self.first_receipt.is_some();
        let stands = now == last && !now.is_zero();
        self.standstill = if stands { self.standstill.saturating_add(u32::from(counts)) } else { 0 };
        assert!(
            self.steps_back < MAX_STEPS_BACK,
            "the time that was passed to `{owner}::tick` went back {MAX_STEPS_BACK} times: pass the time since a fixed start, not the \
             time since the last tick",
        );
        assert!(
            self.standstill < MAX_STANDSTILL,
            "`{owner}::tick` got the same time, {now:?}, in {MAX_STANDSTILL} ticks in a row: pass the time since a fixed start, not the \
             time since the last tick, of a clock that does not stop when the game is paused",
        );
    }

    /// Records that a packet was received.
    ///
    /// # Panics
    /// Panics in debug builds if packets have arrived for half of `timeout` without a tick. On a server, also
    /// panics if packets were never polled in this time. Without these calls, the other side would soon close
    /// the connection.
    #[track_caller]
    pub(crate) fn received(&mut self, now: Duration, timeout: Duration) {
        let owner = self.watched.name();
        let silent = now.saturating_sub(*self.first_receipt.get_or_insert(now));
        debug_assert!(
            silent.saturating_mul(2) < timeout,
            "packets have arrived for {silent:?}, but `{owner}::tick` was not called: call it in every frame, it makes the packets to be sent",
        );
        // A client may replay recorded packets, and never send any.
        if self.watched == Watched::Server {
            self.polls.received(now, timeout, POLL_SERVER);
        }
    }

    /// Counts a poll before the first tick.
    ///
    /// # Panics
    /// Panics in debug builds if there were 1,000 such polls.
    #[track_caller]
    pub(crate) fn polled_before_tick(&mut self) {
        self.idle_polls = self.idle_polls.saturating_add(1);
        debug_assert!(
            self.idle_polls < MAX_IDLE_POLLS,
            "packets were asked for {MAX_IDLE_POLLS} times, but `Client::tick` was never called: call it in every frame, it says hello to the server",
        );
    }
}
