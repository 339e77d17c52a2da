//! The server's side of the process that runs the clients.
//!
//! *Invariant:* the other process ends when this process ends, because then its input ends.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use repl::quic::CertificateHash;

use crate::args::Args;
use crate::model::Sum;

/// The figures that the clients report at the end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Farewell {
    /// The processor time of the clients' process, as a share of the elapsed time.
    pub(crate) cpu_share: f64,
    /// The number of client sessions that ended before the end of the run.
    pub(crate) ends: u64,
    /// The number of packets that did not arrive.
    pub(crate) lost: u64,
}

/// The process of the clients.
pub(crate) struct Helper {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Helper {
    /// Starts this program again for the clients.
    pub(crate) fn start(
        args: &Args,
        server: SocketAddr,
        pin: CertificateHash,
    ) -> Result<Self, Box<dyn Error>> {
        let words = [server.to_string(), pin.to_string(), args.clients.to_string(), args.hz.to_string()];
        let mut child = Command::new(std::env::current_exe()?)
            .arg("crowd")
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (to, from) = child.stdin.take().zip(child.stdout.take()).ok_or("it has pipes")?;
        Ok(Self { child, to, from: BufReader::new(from) })
    }

    /// Returns the sum of each client's objects, in the order of the clients' numbers.
    pub(crate) fn sums(&mut self) -> Result<Vec<Sum>, Box<dyn Error>> {
        let line = self.ask("sums")?;
        line.split_whitespace()
            .map(|word| {
                let (objects, hash) = word.split_once(':').ok_or("a sum has two numbers")?;
                Ok(Sum { objects: objects.parse()?, hash: hash.parse()? })
            })
            .collect()
    }

    /// Asks the clients for their figures at the end.
    pub(crate) fn farewell(&mut self) -> Result<Farewell, Box<dyn Error>> {
        let line = self.ask("farewell")?;
        let [cpu_share, ends, lost] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return Err("a farewell has three numbers".into());
        };
        Ok(Farewell { cpu_share: cpu_share.parse()?, ends: ends.parse()?, lost: lost.parse()? })
    }

    fn ask(&mut self, question: &str) -> Result<String, Box<dyn Error>> {
        writeln!(self.to, "{question}")?;
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        if line.is_empty() {
            return Err(format!("the process of the clients has ended: {}", self.child.wait()?).into());
        }
        Ok(line)
    }
}

impl Drop for Helper {
    /// Ends the process, if it has not ended.
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
