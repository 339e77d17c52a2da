//! Network statistics in Bevy's diagnostics.

use bevy_app::{App, Last, Plugin};
use bevy_diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic};
use bevy_ecs::prelude::*;
use bevy_time::common_conditions::on_real_timer;
use repl::prelude::*;
use std::collections::HashMap;
use std::time::Duration;

use crate::client::remote::Remote;
use crate::client::state::ReplClient;
use crate::prediction::on_client::PredictionCounts;
use crate::server::replicate::Replicate;
use crate::server::state::ReplServer;

/// Measures the network once a second, for the `DiagnosticsStore` of Bevy. Add it after
/// [`ServerPlugin`](crate::ServerPlugin) or [`ClientPlugin`](crate::ClientPlugin).
///
/// ```
/// use bevy_diagnostic::DiagnosticsStore;
/// use bevy_ecs::prelude::*;
/// use repl_bevy::ReplDiagnosticsPlugin;
///
/// fn show(diagnostics: Res<DiagnosticsStore>) {
///     if let Some(sent) = diagnostics.get(&ReplDiagnosticsPlugin::SENT).and_then(|sent| sent.value()) {
///         println!("{sent} bytes in a second");
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplDiagnosticsPlugin;

impl ReplDiagnosticsPlugin {
    /// How many bytes this app has sent in a second. A server counts the bytes to all clients.
    pub const SENT: DiagnosticPath = DiagnosticPath::const_new("repl/sent");
    /// How many bytes a client has received in a second.
    pub const RECEIVED: DiagnosticPath = DiagnosticPath::const_new("repl/received");
    /// The round trip in milliseconds. On a server, this is the mean of all clients.
    pub const ROUND_TRIP: DiagnosticPath = DiagnosticPath::const_new("repl/round_trip");
    /// The percentage of the server's packets that were lost in the last second.
    pub const LOSS: DiagnosticPath = DiagnosticPath::const_new("repl/loss");
    /// The number of replicated entities on a server, or the number of entities that a client has received
    /// from it.
    pub const ENTITIES: DiagnosticPath = DiagnosticPath::const_new("repl/entities");
    /// How many clients a server has.
    pub const CLIENTS: DiagnosticPath = DiagnosticPath::const_new("repl/clients");
    /// How many times in a second the prediction of a client was corrected.
    pub const ROLLBACKS: DiagnosticPath = DiagnosticPath::const_new("repl/rollbacks");
}

impl Plugin for ReplDiagnosticsPlugin {
    fn build(&self, app: &mut App) {
        let is_server = app.world().contains_resource::<ReplServer>();
        let every_second = on_real_timer(Duration::from_secs(1));
        app.register_diagnostic(Diagnostic::new(Self::SENT).with_suffix(" bytes/s"))
            .register_diagnostic(Diagnostic::new(Self::ROUND_TRIP).with_suffix(" ms"))
            .register_diagnostic(Diagnostic::new(Self::LOSS).with_suffix(" %"))
            .register_diagnostic(Diagnostic::new(Self::ENTITIES));
        if is_server {
            app.register_diagnostic(Diagnostic::new(Self::CLIENTS));
            app.add_systems(Last, measure_server.run_if(every_second));
        } else {
            app.register_diagnostic(Diagnostic::new(Self::RECEIVED).with_suffix(" bytes/s"))
                .register_diagnostic(Diagnostic::new(Self::ROLLBACKS));
            app.add_systems(Last, measure_client.run_if(every_second));
        }
    }
}

/// The values of a connection's counters at the last measurement.
#[derive(Clone, Copy, Default)]
struct Counted {
    sent: u64,
    received: u64,
    packets: u64,
    lost: u64,
    rollbacks: u64,
}

impl Counted {
    fn since(self, before: Self) -> Self {
        Self {
            sent: self.sent.saturating_sub(before.sent),
            received: self.received.saturating_sub(before.received),
            packets: self.packets.saturating_sub(before.packets),
            lost: self.lost.saturating_sub(before.lost),
            rollbacks: self.rollbacks.saturating_sub(before.rollbacks),
        }
    }

    fn loss_percent(self) -> f64 {
        100.0 * self.lost as f64 / (self.packets.max(1)) as f64
    }
}

fn measure_server(
    server: Res<'_, ReplServer>,
    entities: Query<'_, '_, (), With<Replicate>>,
    mut before: Local<'_, HashMap<ConnectionId, Counted>>,
    mut diagnostics: Diagnostics<'_, '_>,
) {
    let stats =
        server.connections().map(|connection| (connection, server.connection_info(connection).stats()));
    let stats: Vec<_> = stats.filter_map(|(connection, stats)| Some((connection, stats?))).collect();
    let counted: HashMap<_, _> = stats
        .iter()
        .map(|(connection, stats)| {
            let (packets, lost) = (stats.packets_sent, stats.packets_lost);
            (*connection, Counted { sent: stats.bytes_sent, packets, lost, ..Counted::default() })
        })
        .collect();
    let news = counted
        .iter()
        .map(|(connection, now)| now.since(before.get(connection).copied().unwrap_or_default()));
    let total = news.fold(Counted::default(), |total, new| Counted {
        sent: total.sent + new.sent,
        packets: total.packets + new.packets,
        lost: total.lost + new.lost,
        ..total
    });
    let round_trips: f64 = stats.iter().map(|(_, stats)| stats.round_trip.as_secs_f64() * 1_000.0).sum();
    *before = counted;
    diagnostics.add_measurement(&ReplDiagnosticsPlugin::SENT, || total.sent as f64);
    diagnostics.add_measurement(&ReplDiagnosticsPlugin::LOSS, || total.loss_percent());
    diagnostics.add_measurement(&ReplDiagnosticsPlugin::ENTITIES, || entities.iter().count() as f64);
    diagnostics.add_measurement(&ReplDiagnosticsPlugin::CLIENTS, || stats.len() as f64);
    if !stats.is_empty() {
        diagnostics.add_measurement(&ReplDiagnosticsPlugin::ROUND_TRIP, || round_trips / stats.len() as f64);
    }
}

fn measure_client(
    client: Res<'_, ReplClient>,
    counts: Res<'_, PredictionCounts>,
    entities: Query<'_, '_, (), With<Remote>>,
    mut before: Local<'_, Counted>,
    mut diagnostics: Diagnostics<'_, '_>,
) {
    let stats = client.connection_info().stats();
    let now = Counted {
        sent: stats.bytes_sent,
        received: stats.bytes_received,
        packets: stats.packets_received + stats.packets_lost,
        lost: stats.packets_lost,
        rollbacks: counts.0.rollbacks,
    };
    let new = now.since(std::mem::replace(&mut *before, now));
    diagnostics.add_measurement(&ReplDiagnosticsPlugin::SENT, || new.sent as f64);
    diagnostics.add_measurement(&ReplDiagnosticsPlugin::RECEIVED, || new.received as f64);
    diagnostics.add_measurement(&ReplDiagnosticsPlugin::LOSS, || new.loss_percent());
    diagnostics.add_measurement(&ReplDiagnosticsPlugin::ENTITIES, || entities.iter().count() as f64);
    diagnostics.add_measurement(&ReplDiagnosticsPlugin::ROLLBACKS, || new.rollbacks as f64);
    if let Some(round_trip) = stats.round_trip {
        diagnostics
            .add_measurement(&ReplDiagnosticsPlugin::ROUND_TRIP, || round_trip.as_secs_f64() * 1_000.0);
    }
}
