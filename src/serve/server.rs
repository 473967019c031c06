//! The server: takes connections, hands questions to threads, and ends in order.

use std::future::{Future, poll_fn};
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Notify, Semaphore, watch};

use super::fault::Fault;
use super::guard::Via;
use super::io::{Clock, Stream};
use super::meter::Meter;
use super::place::{Place, token_beside};
use super::projects::Projects;
use super::respond::respond;
use super::temporary::Temporary;
use super::token::Token;
use super::{Address, Options, ServeError, listen, surroundings};
use crate::agent;
use crate::handler::Workshop;
use crate::runtime::LoadError;
use crate::sandbox::compiled::{CodeStore, OnProgress};
use crate::sandbox::engine::{Engine, Lifetime};

/// How many events are decided at once; others wait for their turn, and not for ever.
const THREADS: usize = 64;

/// The stack of a thread, as large as that of a process's first one.
const STACK: usize = 8 << 20;

/// How many instances of the interpreter are ready before they are needed: a few hooks,
/// each with a predicate and a script.
const SPARES: usize = 8;

/// How many connections each door has.
const CONNECTIONS: usize = 256;

/// How long the head of a request may take, and how long a connection may be silent.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How large the head of a request may be.
const HEAD_SIZE: usize = 64 << 10;

/// How long what runs may go on when the server is told to end: less than what service
/// managers give, and as long as most events take at most.
const GRACE: Duration = Duration::from_secs(10);

/// How long to wait when the system has no connection to give.
const BREATH: Duration = Duration::from_millis(50);

/// What all connections share.
pub(super) struct Shared {
    pub(super) token: Token,
    pub(super) projects: Projects,
    pub(super) meter: Meter,
    /// The project that is meant where none is named: the only one the server was
    /// started for.
    pub(super) only: Option<PathBuf>,
    /// What its decisions depend on, beside projects.
    pub(super) surroundings: String,
    /// Rings when somebody asks the server to end.
    pub(super) stop: Notify,
    /// There if the server ends by itself.
    pub(super) temporary: Option<Temporary>,
    threads: Arc<Semaphore>,
}

impl Shared {
    /// Says whether something is being decided.
    fn is_busy(&self) -> bool {
        self.threads.available_permits() < THREADS
    }

    /// Waits until it is asked to end, or ends by itself.
    async fn over(&self) {
        let stopped = self.stop.notified();
        match &self.temporary {
            Some(temporary) => either(stopped, temporary.over(|| self.is_busy())).await,
            None => stopped.await,
        }
    }

    /// Does work on a thread of its own. When its time is up nobody waits for it any
    /// more; the limits of the hooks end it.
    pub(super) async fn run<T: Send + 'static>(
        shared: &Arc<Self>,
        deadline: Duration,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let worker = Arc::clone(shared);
        let done = async {
            let turn = Arc::clone(&shared.threads).acquire_owned().await;
            let turn = turn.map_err(|closed| Fault::Broken(closed.to_string()))?;
            let job = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                work(&worker)
            });
            job.await
                .map_err(|panicked| Fault::Broken(panicked.to_string()))
        };
        match tokio::time::timeout(deadline, done).await {
            Ok(done) => done,
            Err(_) => Err(Fault::Late(deadline)),
        }
    }
}

/// A server that has everything ready and listens, though it does not answer yet.
pub struct Server {
    place: Place,
    address: Address,
    socket: std::os::unix::net::UnixListener,
    port: Option<std::net::TcpListener>,
    shared: Arc<Shared>,
    problems: Vec<(PathBuf, String)>,
    runtime: tokio::runtime::Runtime,
    end: End,
}

/// What tells a server to end.
struct End {
    terminate: Signal,
    interrupt: Signal,
}

impl End {
    /// Takes the signals that would end the process otherwise.
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits to be told.
    async fn told(&mut self) {
        either(self.terminate.recv(), self.interrupt.recv()).await;
    }
}

impl Server {
    /// Takes the socket and the token, loads the projects, and listens.
    ///
    /// # Errors
    /// Returns what keeps it from being reached safely. A project that does not load
    /// is none of that: its events are refused until it does.
    pub fn open(options: &Options, on_progress: OnProgress) -> Result<Self, ServeError> {
        let port = options.listen.map(listen::port).transpose()?;
        let place = Place::take(options.socket.as_deref())?;
        let beside = token_beside(&place.socket);
        let token = Token::take(options.token_file.as_deref(), &beside)?;
        let projects = Projects::new(Arc::new(workshop(on_progress)?));
        let (roots, problems) = prepare(&projects, &options.projects);
        let address = Address {
            socket: place.socket.clone(),
            listen: port.as_ref().map(|port| port.local_addr()).transpose()?,
            token_file: options.token_file.clone().unwrap_or(beside),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(THREADS)
            .thread_name("hookbox-serve")
            .thread_stack_size(STACK)
            .build()?;
        // Whoever sees the socket may tell the server to end.
        let entered = runtime.enter();
        let end = End::new()?;
        drop(entered);
        let socket = listen::socket(&place)?;
        let only = match (&options.projects[..], &roots[..]) {
            ([_], [root]) => Some(root.clone()),
            _ => None,
        };
        let shared = Arc::new(Shared {
            token,
            projects,
            meter: Meter::default(),
            only,
            surroundings: surroundings::print(),
            stop: Notify::new(),
            temporary: options.idle.map(Temporary::new),
            threads: Arc::new(Semaphore::new(THREADS)),
        });
        Ok(Self {
            place,
            address,
            socket,
            port,
            shared,
            problems,
            runtime,
            end,
        })
    }

    /// Returns where it can be reached.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the projects that do not load, and why.
    #[must_use]
    pub fn problems(&self) -> &[(PathBuf, String)] {
        &self.problems
    }

    /// Answers until the process is told to end: then what runs may finish, and nothing
    /// new begins.
    ///
    /// # Errors
    /// Returns what the system does not give.
    pub fn run(self) -> Result<(), ServeError> {
        let Self {
            place,
            socket,
            port,
            shared,
            runtime,
            end,
            ..
        } = self;
        let ended = runtime.block_on(serve(&place, socket, port, &shared, end));
        // What is still running is nothing anybody waits for.
        runtime.shutdown_background();
        Ok(ended?)
    }
}

async fn serve(
    place: &Place,
    socket: std::os::unix::net::UnixListener,
    port: Option<std::net::TcpListener>,
    shared: &Arc<Shared>,
    mut end: End,
) -> io::Result<()> {
    let (stop, stopped) = watch::channel(false);
    let near = Door::new(Via::Socket, shared, &stopped);
    let far = Door::new(Via::Port, shared, &stopped);
    let doors = [Arc::clone(&near.free), Arc::clone(&far.free)];
    tokio::spawn(near.keep(UnixListener::from_std(socket)?));
    if let Some(port) = port {
        tokio::spawn(far.keep(TcpListener::from_std(port)?));
    }
    either(end.told(), shared.over()).await;
    // Whoever comes now finds nobody, and does it without a server.
    place.leave();
    let _ = stop.send(true);
    let all = async {
        for door in &doors {
            let _ = door.acquire_many(CONNECTIONS as u32).await;
        }
    };
    // Somebody who says it twice means it.
    either(tokio::time::timeout(GRACE, all), end.told()).await;
    Ok(())
}

/// Waits for the first of two.
pub(super) async fn either(one: impl Future, other: impl Future) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| {
        if one.as_mut().poll(context).is_ready() || other.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        Poll::Pending
    })
    .await;
}

fn workshop(on_progress: OnProgress) -> Result<Workshop, LoadError> {
    let store = CodeStore::open_default()?;
    let engine = Engine::new(Lifetime::LongLived)?;
    Ok(Workshop::new(engine, store, on_progress).with_spares(SPARES))
}

/// Loads projects before anybody asks. Returns where they are, and which do not load.
fn prepare(projects: &Projects, given: &[PathBuf]) -> (Vec<PathBuf>, Vec<(PathBuf, String)>) {
    let (mut roots, mut problems) = (Vec::new(), Vec::new());
    for project in given {
        let root = match std::fs::canonicalize(project) {
            Ok(root) => root,
            Err(error) => {
                problems.push((project.clone(), error.to_string()));
                continue;
            }
        };
        if !agent::is_project(&root) {
            problems.push((root.clone(), "there are no hooks in it".to_owned()));
        } else if let Err(error) = projects.get(&root) {
            problems.push((root.clone(), error.to_string()));
        }
        roots.push(root);
    }
    projects.warm_up();
    (roots, problems)
}

/// One thing that is listened on.
struct Door {
    via: Via,
    shared: Arc<Shared>,
    free: Arc<Semaphore>,
    stopped: watch::Receiver<bool>,
}

/// Something that takes connections.
trait Listen {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;
    fn next(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

impl Listen for UnixListener {
    type Stream = tokio::net::UnixStream;

    async fn next(&self) -> io::Result<Self::Stream> {
        Ok(self.accept().await?.0)
    }
}

impl Listen for TcpListener {
    type Stream = tokio::net::TcpStream;

    async fn next(&self) -> io::Result<Self::Stream> {
        let (stream, _) = self.accept().await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl Door {
    fn new(via: Via, shared: &Arc<Shared>, stopped: &watch::Receiver<bool>) -> Self {
        Self {
            via,
            shared: Arc::clone(shared),
            free: Arc::new(Semaphore::new(CONNECTIONS)),
            stopped: stopped.clone(),
        }
    }

    /// Takes connections until the server ends.
    async fn keep<L: Listen>(self, listener: L) {
        let mut stopped = self.stopped.clone();
        let ended = async move {
            let _ = stopped.wait_for(|stopped| *stopped).await;
        };
        let taking = async {
            loop {
                let Ok(place) = Arc::clone(&self.free).acquire_owned().await else {
                    return;
                };
                match listener.next().await {
                    Ok(stream) => {
                        let work = self.talk(stream);
                        tokio::spawn(async move {
                            work.await;
                            drop(place);
                        });
                    }
                    // Too many open files, or a client that went away.
                    Err(_) => tokio::time::sleep(BREATH).await,
                }
            }
        };
        either(ended, taking).await;
    }

    /// Answers the requests of one connection; at the end of the server, the one that
    /// is under way.
    fn talk<S>(&self, stream: S) -> impl Future<Output = ()> + Send + use<S>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (via, shared) = (self.via, Arc::clone(&self.shared));
        let mut stopped = self.stopped.clone();
        async move {
            let service = service_fn(|request| respond(Arc::clone(&shared), via, request));
            let connection = http1::Builder::new()
                .timer(Clock)
                .header_read_timeout(HEAD_TIME)
                .max_header_size(HEAD_SIZE)
                .serve_connection(Stream(stream), service);
            let mut connection = pin!(connection);
            let mut ended = pin!(stopped.wait_for(|stopped| *stopped));
            let mut ending = false;
            poll_fn(|context| {
                if !ending && ended.as_mut().poll(context).is_ready() {
                    ending = true;
                    connection.as_mut().graceful_shutdown();
                }
                connection.as_mut().poll(context).map(drop)
            })
            .await;
        }
    }
}
