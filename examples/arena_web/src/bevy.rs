//! The match of the game with Bevy, and its page.
//!
//! *Invariant:* only the page of this program can connect from a browser.

use std::error::Error;
use std::net::Ipv4Addr;
use std::thread;
use std::time::Duration;

use bevy_arena::snapshot;
use repl::quic::{Identity, QuicServer};
use repl_bevy::ServerPlugin;

use crate::args::Bevy;
use crate::{announce, bundle, http, venue};

/// Makes the page, and serves it and the match until the process ends.
pub(crate) fn serve(args: &Bevy) -> Result<(), Box<dyn Error>> {
    let bundle = bundle::make(bundle::BEVY)?;
    let listener = http::listen(args.port)?;
    let port = listener.local_addr()?.port();
    let identity = Identity::development(venue::CERTIFICATE)?;
    let quic = QuicServer::bind((Ipv4Addr::LOCALHOST, 0).into(), &identity, venue::for_page(port))?;
    let server = venue::as_json(quic.local_address()?, &identity.hash());
    let mut app = bevy_arena::server(ServerPlugin::over(quic).hz(60.0), !args.empty);
    announce(args.json, port, &bundle, &server);
    http::serve(listener, bundle.files(server));
    for frame in 1_u64.. {
        app.update();
        if args.json && frame % 250 == 0 {
            println!("{}", snapshot::take(&mut app));
        }
        thread::sleep(Duration::from_millis(4));
    }
    Ok(())
}
