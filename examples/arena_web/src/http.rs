//! A server of a few fixed files over HTTP, for this machine.
//!
//! *Invariant:* a request only chooses one of the files, by its whole path. It is read up to a limit, and
//! not longer than [`PATIENCE`].

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);
const MOST_BYTES: u64 = 16 << 10;

/// A file, and the type of its content.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
}

/// Opens a port that is reached only from this machine.
pub(crate) fn listen(port: u16) -> io::Result<TcpListener> {
    let opened = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    opened.map_err(|error| io::Error::new(error.kind(), format!("port {port} of the page: {error}")))
}

/// Serves the files on threads of their own, until the process ends.
pub(crate) fn serve(listener: TcpListener, files: Vec<File>) {
    let files = Arc::new(files);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let files = Arc::clone(&files);
            // A browser that goes away while it is answered is no error.
            thread::spawn(move || answer(stream, &files).ok());
        }
    });
}

/// Reads one request, and answers it.
fn answer(mut stream: TcpStream, files: &[File]) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let lines = BufReader::new(Read::take(&stream, MOST_BYTES)).lines();
    let head: Vec<_> =
        lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).flatten().collect();
    let mut words = head.first().map(String::as_str).unwrap_or_default().split_whitespace();
    let (method, target) = (words.next(), words.next().unwrap_or_default());
    let path = target.split('?').next();
    let file = files.iter().find(|file| method == Some("GET") && path == Some(&*file.path));
    let (status, kind, body) = match file {
        Some(file) => ("200 OK", file.kind, &*file.body),
        None => ("404 Not Found", "text/plain", &b"there is no such file\n"[..]),
    };
    // With the last two lines, the clock of the page has steps of 5 microseconds instead of 100.
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\
         cache-control: no-store\r\ncross-origin-opener-policy: same-origin\r\n\
         cross-origin-embedder-policy: require-corp\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body)
}
