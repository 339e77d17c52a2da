//! The game plays with itself, over sockets and with a real clock.

use std::process::Command;

#[test]
fn the_match_converges_also_for_who_joins_late_and_over_a_restart_of_the_server() {
    converges(&["--self-test", "--json"]);
}

#[test]
fn the_match_converges_if_somebody_plays_on_the_server() {
    converges(&["--self-test", "--json", "--host"]);
}

#[track_caller]
fn converges(args: &[&str]) {
    let run =
        Command::new(env!("CARGO_BIN_EXE_bevy_arena")).args(args).output().expect("the example was built");
    let (line, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{line}{errors}");
    for expected in [r#""converged":true"#, r#""late_joiner":true"#, r#""server_restarted":true"#] {
        assert!(line.contains(expected), "{line}");
    }
}
