//! Which servers a client trusts, and how it reports that it does not trust a server.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{CertificateParams, KeyPair};
use repl_link::DisconnectReason;
use repl_sim::LinkConditions;
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::PrivateKeyDer;

use super::lan::{Lan, folder};
use crate::{CertificateHash, Identity, Trust, TrustError, native::identity};

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Returns the reason that a client reports if it does not trust the server.
fn refusal(identity: Identity, trust: &Trust) -> String {
    let mut lan = Lan::new(LinkConditions::perfect());
    lan.quic.set_identity(&identity).expect("the identity is good");
    let guest = lan.enter_with(trust);
    lan.until(Duration::from_secs(2), |lan| !lan.guests[guest].ends.is_empty());
    let [DisconnectReason::Transport(why)] = &lan.guests[guest].ends[..] else {
        panic!("{:?}", lan.guests[guest].ends)
    };
    let why = why.clone();
    lan.run(Duration::from_secs(5));
    assert_eq!((lan.guests[guest].ends.len(), lan.quic.clients()), (1, 0), "it does not try again");
    why
}

/// Returns an identity that is valid for 13 days, from one day before `time`.
fn identity_from(time: SystemTime) -> Identity {
    let (certificate, key) = identity::make(time).expect("it can be made");
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key").clone_key();
    Identity { chain: vec![certificate.der().clone()], key }
}

/// Returns a `Trust` whose only certificate authority is this certificate.
fn authority(identity: &Identity, name: &'static str) -> Trust {
    let mut roots = RootCertStore::empty();
    roots.add(identity.chain[0].clone()).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    let name = Some(name.try_into().expect("a name"));
    Trust { verifier: verifier.expect("there is a root"), name }
}

#[test]
fn a_pinned_certificate_is_trusted_and_no_other_is() {
    let (own, other) = (super::lan::identity(), super::lan::identity());
    let mut lan = Lan::new(LinkConditions::perfect());
    lan.quic.set_identity(&own).expect("the identity is good");
    let guest = lan.enter_with(&Trust::pinned([other.hash(), own.hash()]));
    lan.settle();
    assert!(lan.guests[guest].client.is_connected());
    let why = refusal(own, &Trust::pinned([other.hash()]));
    assert!(why.contains("none of the pinned hashes"), "{why}");
}

#[test]
fn a_certificate_that_is_not_valid_now_is_refused() {
    let now = SystemTime::now();
    for from in [now - 14 * DAY, now + 2 * DAY] {
        let identity = identity_from(from);
        let (pinned, authority) = (Trust::pinned([identity.hash()]), authority(&identity, "localhost"));
        for trust in [pinned, authority] {
            let why = refusal(identity_from(from), &Trust::pinned([identity.hash()]));
            assert!(why.contains("none of the pinned"), "it is another certificate: {why}");
            let same = Identity { chain: identity.chain.clone(), key: identity.key.clone_key() };
            let why = refusal(same, &trust);
            assert!(why.contains("is not valid now"), "{why}");
        }
    }
}

#[test]
fn an_authority_counts_only_for_the_names_in_the_certificate() {
    let own = super::lan::identity();
    let mut lan = Lan::new(LinkConditions::perfect());
    let same = || Identity { chain: own.chain.clone(), key: own.key.clone_key() };
    lan.quic.set_identity(&same()).expect("the identity is good");
    lan.enter_with(&authority(&own, "localhost"));
    lan.settle();
    let why = refusal(same(), &authority(&own, "game.example"));
    assert!(why.contains("does not have the name"), "{why}");
    let key = KeyPair::generate().expect("a key");
    let other = CertificateParams::new(["game.example".to_owned()]).expect("a name").self_signed(&key);
    let chain = vec![other.expect("it can be signed").der().clone()];
    let other = Identity { chain, key: own.key.clone_key() };
    let why = refusal(same(), &authority(&other, "localhost"));
    assert!(why.contains("signed by no authority"), "{why}");
}

#[test]
fn a_development_certificate_is_kept_until_two_days_before_its_end() {
    let folder = folder();
    let first = Identity::development(&folder).expect("the folder can be written").hash();
    assert_eq!(Identity::development(&folder).expect("it is there").hash(), first);
    for (from, is_kept) in [(SystemTime::now() - 9 * DAY, true), (SystemTime::now() - 11 * DAY, false)] {
        let (certificate, key) = identity::make(from).expect("it can be made");
        let both = key.serialize_pem() + &certificate.pem();
        fs::write(folder.join("identity.pem"), both).expect("the folder is there");
        let old = CertificateHash::of(certificate.der());
        assert_eq!(Identity::development(&folder).expect("it is there").hash() == old, is_kept);
    }
    let trust = Trust::development(&folder).expect("the certificate is there");
    let identity = Identity::development(&folder).expect("it is there");
    let mut lan = Lan::new(LinkConditions::perfect());
    lan.quic.set_identity(&identity).expect("the identity is good");
    lan.enter_with(&trust);
    lan.settle();
    fs::remove_dir_all(folder).expect("it was made");
}

#[test]
fn a_file_that_is_missing_or_wrong_is_named() {
    let folder = folder();
    let error = Trust::development(&folder).expect_err("there is no server");
    let TrustError::NoServer { path } = &error else { panic!("{error}") };
    assert_eq!(*path, folder.join("certificate.pem"));
    assert!(error.to_string().contains("start the server first"), "{error}");
    Identity::development(&folder).expect("the folder can be written");
    fs::write(folder.join("identity.pem"), "no key").expect("the folder is there");
    let error = Identity::development(&folder).expect_err("it has no certificate").to_string();
    assert!(error.contains("identity.pem") && error.contains("no certificate"), "{error}");
    let [certificate, key] = ["certificate.pem", "identity.pem"].map(|name| folder.join(name));
    let error = Identity::from_pem(&certificate, &key).expect_err("it has no key").to_string();
    assert!(error.contains("identity.pem") && error.contains("no private key"), "{error}");
    let other = super::lan::folder();
    Identity::development(&other).expect("the folder can be written");
    let error =
        Identity::from_pem(&certificate, other.join("identity.pem")).expect_err("of another").to_string();
    assert!(error.contains(&other.display().to_string()) && error.contains("certificate.pem"), "{error}");
    assert!(error.contains("does not belong to the certificate"), "{error}");
    fs::remove_dir_all(other).expect("it was made");
    let wrong = Identity { key: identity_from(SystemTime::now()).key, ..identity_from(SystemTime::now()) };
    let mut lan = Lan::new(LinkConditions::perfect());
    let error = lan.quic.set_identity(&wrong).expect_err("the key is of another").to_string();
    assert!(error.contains("do not go together"), "{error}");
    fs::remove_dir_all(folder).expect("it was made");
}

#[test]
fn the_hash_of_a_certificate_is_read_as_it_is_written() {
    let hash = super::lan::identity().hash();
    assert_eq!(hash.to_string().parse(), Ok(hash));
    let spread: Vec<_> = hash.0.iter().map(|byte| format!("{byte:02X}")).collect();
    assert_eq!(spread.join(":").parse(), Ok(hash));
    for wrong in ["", "12", "zz", &"0".repeat(65), &"é".repeat(32)] {
        let error = wrong.parse::<CertificateHash>().expect_err("no hash").to_string();
        assert!(error.contains("64 hexadecimal digits"), "{error}");
    }
}

#[test]
fn what_cannot_be_the_name_of_a_server_is_refused() {
    for name in ["", "https://play.example.com", "play.example.com:7777", "two words"] {
        let error = Trust::platform(name).expect_err("no name").to_string();
        assert!(error.contains(&format!("{name:?}")) && error.contains("without a scheme"), "{error}");
    }
    for name in ["play.example.com", "203.0.113.7", "2001:db8::7"] {
        let result = Trust::platform(name);
        assert!(matches!(result, Ok(_) | Err(TrustError::Platform(_))), "{result:?}");
    }
}

#[test]
fn the_key_is_never_printed() {
    let identity = super::lan::identity();
    assert_eq!(format!("{identity:?}"), format!("Identity {{ hash: {}, .. }}", identity.hash()));
}
