//! The plug-ins, which make an app a server or a client.

pub(crate) mod client_plugin;
pub(crate) mod server_plugin;

use bevy_app::App;
use bevy_time::TimePlugin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The default time from one tick to the next.
const INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / 30);

/// A value that is moved out of a plug-in once, into the app to which the plug-in is added.
struct Once<T>(Mutex<Option<T>>);

impl<T> Once<T> {
    const fn new(value: T) -> Self {
        Self(Mutex::new(Some(value)))
    }

    fn get_mut(&mut self) -> Option<&mut T> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut()
    }

    fn take(&self) -> T {
        let value = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        value.expect("a plug-in is added to one app")
    }
}

fn add_time(app: &mut App) {
    if !app.is_plugin_added::<TimePlugin>() {
        app.add_plugins(TimePlugin);
    }
}

/// Returns the first address to which a name resolves.
#[cfg(feature = "quic")]
fn first_address(address: impl std::net::ToSocketAddrs) -> std::io::Result<std::net::SocketAddr> {
    let first = address.to_socket_addrs()?.next();
    first.ok_or_else(|| std::io::Error::new(std::io::ErrorKind::NotFound, "the name stands for no address"))
}

#[track_caller]
fn interval(hz: f64) -> Duration {
    assert!(hz.is_finite() && hz > 0.0, "a rate of {hz} ticks in a second");
    Duration::from_secs_f64(1.0 / hz)
}
