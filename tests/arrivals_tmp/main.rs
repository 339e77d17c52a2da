#[path = "../hostile/forge.rs"]
#[allow(dead_code)]
mod forge;
#[path = "../swarm/arrivals/mod.rs"]
mod arrivals;
