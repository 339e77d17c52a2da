#[path = "../swarm/arrivals/mod.rs"]
mod arrivals;
#[path = "../hostile/forge.rs"]
#[allow(dead_code)]
mod forge;
