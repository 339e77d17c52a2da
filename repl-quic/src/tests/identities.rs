//! Certificates for development: when they are made, kept and replaced.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;

use super::lan::unique;
use crate::{CertificateHash, Identity};

/// Returns the path of a folder that does not exist. Each call returns another path.
fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("repl-quic-identity-{}-{}", std::process::id(), unique()))
}

#[test]
fn servers_that_start_at_the_same_time_have_one_certificate_which_is_the_one_for_clients() {
    const SERVERS: usize = 8;
    for _ in 0..20 {
        let (folder, start) = (folder(), Barrier::new(SERVERS));
        let run = || {
            start.wait();
            Identity::development(&folder).map(|identity| identity.hash())
        };
        let hashes = thread::scope(|scope| {
            let servers: Vec<_> = (0..SERVERS).map(|_| scope.spawn(run)).collect();
            let hashes = servers.into_iter().map(|server| server.join().expect("it does not panic"));
            hashes.collect::<Result<BTreeSet<_>, _>>()
        });
        let hashes = hashes.expect("each gets an identity");
        let chain =
            crate::native::certificate::read_chain(&folder.join("certificate.pem")).expect("it is there");
        assert_eq!(hashes, BTreeSet::from([CertificateHash::of(&chain[0])]));
        assert_eq!(
            fs::read_dir(&folder).expect("it is there").count(),
            2,
            "nothing else stays in the folder"
        );
        fs::remove_dir_all(folder).expect("it was made");
    }
}

#[test]
fn a_server_that_is_started_again_has_its_certificate_and_nobody_else_can_read_its_key() {
    let folder = folder();
    let [first, second] = [(); 2].map(|()| Identity::development(&folder).expect("it can be written").hash());
    assert_eq!(first, second);
    let certificate = fs::read_to_string(folder.join("certificate.pem")).expect("it is there");
    assert!(!certificate.contains("PRIVATE KEY"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let key = fs::metadata(folder.join("identity.pem")).expect("it is there");
        assert_eq!(key.permissions().mode() & 0o777, 0o600);
    }
    fs::remove_dir_all(folder).expect("it was made");
}

#[test]
fn the_key_stays_secret_in_whichever_order_a_file_has_both() {
    let folder = folder();
    Identity::development(&folder).expect("it can be written");
    let (both, public) = (folder.join("identity.pem"), folder.join("certificate.pem"));
    let certificate = fs::read_to_string(&public).expect("it is there");
    let key = fs::read_to_string(&both).expect("it is there").replace(&certificate, "");
    assert!(key.contains("PRIVATE KEY"));
    fs::write(&both, certificate.clone() + &key).expect("it can be written");
    fs::remove_file(&public).expect("it is there");
    Identity::development(&folder).expect("it has both");
    assert_eq!(fs::read_to_string(&public).expect("it is there"), certificate);
    fs::remove_dir_all(folder).expect("it was made");
}
