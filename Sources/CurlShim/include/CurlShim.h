#pragma once
#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/select.h>

// Swift cannot call variadic functions, so each kind of argument has a function of its own.

CURLcode refrain_set_long(CURL *easy, CURLoption option, long value);
CURLcode refrain_set_offset(CURL *easy, CURLoption option, int64_t value);
CURLcode refrain_set_pointer(CURL *easy, CURLoption option, const void *value);

/// Names the functions that libcurl calls during a transfer; each receives `user`.
CURLcode refrain_set_callbacks(CURL *easy, curl_write_callback header, curl_write_callback write,
                               curl_read_callback read, curl_prereq_callback prerequest,
                               curl_opensocket_callback open_socket, void *user);

/// Names the function that hears of progress, once CURLOPT_NOPROGRESS is off.
CURLcode refrain_set_progress(CURL *easy, curl_xferinfo_callback progress, void *user);

/// 1 where the peer has ended TLS as it should, 0 where it has not, -1 where that is unknown.
///
/// Only to be asked during a transfer.
int refrain_tls_was_ended(CURL *easy);

/// Names the function that receives libcurl's notes, once CURLOPT_VERBOSE is on.
CURLcode refrain_set_debug(CURL *easy, curl_debug_callback debug, void *user);

/// 0 where libcurl does not know.
long refrain_get_long(CURL *easy, CURLINFO info);
int64_t refrain_get_offset(CURL *easy, CURLINFO info);
void *refrain_get_pointer(CURL *easy, CURLINFO info);

CURLMcode refrain_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// Prepares libcurl for the whole process; may be called any number of times, from any thread.
CURLcode refrain_global_init(void);

/// Lets glibc keep up to 64 MB of freed memory for what is allocated next, rather than to give it back at once.
///
/// Does nothing with other C libraries, and where the program has limits of its own (mallopt, GLIBC_TUNABLES).
void refrain_keep_freed_memory(void);

/// What this libcurl can do, a set of CURL_VERSION_… bits.
int refrain_features(void);

/// Names a thread for debuggers and `ps`, where the system lets others do that.
void refrain_name_thread(pthread_t thread, const char *name);

/// A SIGPIPE that is kept from the calling thread.
typedef struct {
    sigset_t before;
    bool was_held;
    bool had_come;
} refrain_held_signal;

/// Keeps SIGPIPE from the calling thread until it is released.
void refrain_hold_pipe_signal(refrain_held_signal *held);

/// Undoes that, and forgets a SIGPIPE that was raised meanwhile.
void refrain_release_pipe_signal(const refrain_held_signal *held);

/// The sockets that transfers wait for.
typedef struct {
    fd_set to_read, to_write;
    int highest;
} refrain_sockets;

/// Lists the sockets that the transfers of a handle wait for; false where there are none that can be waited for.
bool refrain_list_sockets(CURLM *multi, refrain_sockets *sockets);

/// Waits until something happens at a socket, without its handle; false where nothing has in that time.
bool refrain_wait_for_sockets(refrain_sockets *sockets, int64_t nanoseconds);

/// A socket that is closed in child processes, or CURL_SOCKET_BAD.
curl_socket_t refrain_open_socket(const struct curl_sockaddr *address);

/// The port of a socket's own end; 0 where it has none.
int refrain_local_port(curl_socket_t socket);

/// 1 where there is something to be read from a socket, be it its end or an error; else, or if it is no socket, 0.
int refrain_has_arrived(curl_socket_t socket);

// Whether the peer has ended the connection, and nothing that it has sent before is unread.
int refrain_has_ended(curl_socket_t socket);

/// What undoes gzip or deflate.
typedef struct refrain_inflater refrain_inflater;

/// NULL where there is no memory for it.
refrain_inflater *refrain_inflater_make(int is_gzip);
void refrain_inflater_free(refrain_inflater *inflater);

/// Begins anew, for the next member of a gzip body; 0, or -1.
int refrain_inflater_restart(refrain_inflater *inflater);

/// Undoes some of the input: 0 to be called again with more, 1 at the end of the content, -1 where it is malformed.
///
/// The counts say how much there is, or room for, and afterwards how much was taken and made.
int refrain_inflater_run(refrain_inflater *inflater, const uint8_t *input, size_t *input_count, uint8_t *output,
                         size_t *output_count);

/// What was malformed.
const char *refrain_inflater_message(const refrain_inflater *inflater);
