// Every bound in one place, each with its reason. Sizes in bytes, durations in seconds where the name says
// so.
#pragma once

#include <cstdint>

namespace gleaner::limits {

// Messages
inline constexpr std::int64_t json_message_bytes_max = 4 << 20;  // a work request with inline segments
inline constexpr int json_depth_max = 32;                        // our deepest message has 8 levels
inline constexpr std::int64_t json_values_max = 20'000;          // a relay's full work request has fewer
inline constexpr std::int64_t json_list_values_max =
    250'000;  // admin lists and parameters; about 25 MB as a tree
inline constexpr std::int64_t inline_segment_bytes_max =
    64 << 10;  // larger ones are uploaded, so that they resume
// A segment that the server keeps in its store and not in a file of its own.
inline constexpr std::int64_t kept_segment_bytes_max = 64 << 10;
// An item in progress as its kernel saved it; the client reads all of it once a minute, on its main thread.
inline constexpr std::int64_t checkpoint_bytes_max = 16 << 20;
// The same for a host that goes on with it: more stays where it was saved.
inline constexpr std::int64_t saved_bytes_max = 512 << 10;        // raw; a few milliseconds to compress
inline constexpr std::int64_t saved_inline_bytes_max = 64 << 10;  // compressed
inline constexpr int outputs_per_heartbeat_max = 4;
inline constexpr int saved_per_heartbeat_max = 8;                       // the others with the next ones
inline constexpr std::int64_t saved_per_problem_bytes_max = 256 << 20;  // in the server's memory
inline constexpr std::int64_t upload_chunk_bytes_max = 4 << 20;  // one PATCH; bounds memory per connection
inline constexpr std::int64_t segment_bytes_max = std::int64_t{1}
                                                  << 30;  // raw; a 2^16 hologram row group is 512 MiB
inline constexpr std::int64_t item_bytes_max = std::int64_t{1} << 29;  // one item's result
inline constexpr std::int64_t blob_bytes_max = std::int64_t{1} << 36;  // an input or a result file
inline constexpr std::int64_t bundle_bytes_max = 256 << 20;            // a packed application
inline constexpr int bundle_files_max = 4096;
inline constexpr std::int64_t header_bytes_max = 16 << 10;

// Names and texts
inline constexpr int name_length_max = 64;
inline constexpr int message_length_max = 4096;    // reasons and kernels' last words
inline constexpr int output_bytes_max = 64 << 10;  // of a running kernel, as viewers get it
inline constexpr int parameters_bytes_max = 1 << 20;
inline constexpr int declared_parameters_max = 64;  // of an application: a form that people still read
inline constexpr int declared_choices_max = 64;     // of a parameter
inline constexpr int declared_inputs_max = 16;
inline constexpr int meaning_length_max = 200;      // of a parameter, input or item: shown on one line
inline constexpr int default_length_max = 4096;     // of a parameter, as JSON
inline constexpr double declared_bound_max = 1e19;  // of a parameter's value: beyond whole numbers
inline constexpr int file_name_length_max = 255;    // what file systems take
inline constexpr int text_length_max = 1024;        // titles, tokens, join codes, strategies with their keys

// The console
inline constexpr int follow_seconds_max =
    60;                                    // one answer of events; then the right to them is looked at anew
inline constexpr int followers_max = 500;  // each holds a connection of connections_max
inline constexpr int followers_of_one_max = 100;           // of one token
inline constexpr int console_links_max = 100;              // that nobody has used yet; the oldest goes
inline constexpr int console_sessions_max = 1000;          // the one unused for longest ends
inline constexpr int console_links_of_one_max = 10;        // of one token: its own oldest goes
inline constexpr int console_sessions_of_one_max = 30;     // the same
inline constexpr int console_link_seconds = 120;           // from a terminal to the browser beside it
inline constexpr int console_idle_seconds = 2 * 3600;      // a closed laptop
inline constexpr int console_session_seconds = 12 * 3600;  // a working day
inline constexpr int map_cells_max = 2000;                 // a cell is some pixels
inline constexpr int samples_max = 480;                    // of a curve; twice as dense as it is drawn
inline constexpr int problems_sampled_max = 200;           // the newest; 200 x 480 x 32 bytes = 3 MB
inline constexpr int problems_live_max = 200;              // in one event; open ones first
// Open problems that the metrics name, the newest: four series each, which a monitoring system keeps for
// weeks.
inline constexpr int problems_in_metrics_max = 100;
inline constexpr int error_groups_max = 50;        // what a person looks through
inline constexpr int hosts_filtered_max = 20'000;  // looked at for one page: some milliseconds of the writer

// Counts
inline constexpr std::int64_t items_max = std::int64_t{1} << 53;  // exact in a JSON number
inline constexpr int stages_max = 64;
inline constexpr int units_per_request_max = 64;  // a 64-core host asks once
inline constexpr int units_per_host_max = 512;
inline constexpr std::size_t instances_per_host_max = 64;     // a room of copies of one disk; 32 bytes each
inline constexpr std::size_t copied_hosts_told_max = 100;     // more of them are one mistake
inline constexpr int item_parameters_max = 16;                // the estimator's vector
inline constexpr std::int64_t hinted_items_max = 10'000'000;  // kept in memory while a stage is open
inline constexpr std::int64_t hints_bytes_max = 256 << 20;
inline constexpr double cost_ahead_max = 1e15;       // as far as sums of hints stay exact
inline constexpr int segments_per_request_max = 64;  // a host's
// What all hosts of a relay brought goes up together. With as many units it fits a message
// (codec_bounds_test).
inline constexpr int segments_per_relay_request_max = 512;
inline constexpr std::int64_t proof_bytes_max = 33 * 16;  // a reply has some 600 statements: 10 levels
// Contexts of grants that a client keeps and names: of so many problems it is told again what it has
// forgotten.
inline constexpr int contexts_per_request_max = 32;
// Addresses in an object store: a host asks for each when it needs it, and again when one is about to end. A
// quarter of an hour is what such stores forgive clocks, and 4 MiB pieces of a slow line take minutes.
inline constexpr int address_seconds = 15 * 60;
inline constexpr int address_length_max = 2048;
inline constexpr int parts_per_upload_max = 128;             // of 8 MiB: a segment
inline constexpr std::int64_t contexts_bytes_max = 4 << 20;  // in its memory; the newest is kept in any case
inline constexpr int progress_per_reply_max = 16;            // problems whose progress one reply reports
inline constexpr int measured_per_request_max = 256;         // hosts of a relay; the rest with the next
inline constexpr int put_out_per_reply_max = 64;             // hosts that a relay is told of; the rest later
inline constexpr int hosts_per_page_max = 1000;
inline constexpr int table_columns_max = 256;    // what a spreadsheet is still read with
inline constexpr int table_page_rows_max = 500;  // in one answer: some screens
inline constexpr int list_length_max = 10'000;   // one admin list, or the hosts of one problem
// Relays above a host: each is a link of the chain that it checks with every lease.
inline constexpr int relay_depth_max = 8;
inline constexpr int lease_statements_max = 2 * relay_depth_max;
inline constexpr int relay_slots_max = 100'000'000;
inline constexpr std::int64_t relay_children_max = 1'000'000;  // under one relay: as many as a server has
inline constexpr int codes_max = 10'000;  // enrolment codes: each joining host's is looked for
inline constexpr int bans_max = 10'000;   // all are in the memory, and one list
inline constexpr int ban_reason_length_max = 500;
inline constexpr int tags_max = 16;                                    // of an enrolment code and its hosts
inline constexpr std::int64_t code_seconds_max = 10LL * 365 * 86'400;  // the life of a code or an admin token
inline constexpr int acts_per_page_max = 1000;  // of the audit log; a quarter of a megabyte
// Of the audit log: years of a busy project, some 30 MB; older ones go. `audit verify` relies on the number.
inline constexpr std::int64_t acts_kept = 100'000;
inline constexpr std::int64_t acts_dropped_at_once = 1000;  // when so many more are there
inline constexpr int inputs_max = 1024;                     // files of one problem or unit
inline constexpr int signers_max = 64;                      // signer certificates in a project document
inline constexpr int former_work_keys_max = 8;  // that what was granted before a rotation still stands by
inline constexpr int revoked_keys_max = 256;    // work keys and signers of a project's whole life; TLS keys
inline constexpr int revoked_applications_max = 1024;     // by digest; and as many minimum versions
inline constexpr int revocation_reason_length_max = 200;  // a full list fits a message with room to spare
inline constexpr int applications_permitted_max = 64;     // that an owner lists by name
inline constexpr int platforms_max = 16;                  // that one host can execute, or one application has
inline constexpr int capabilities_max = 64;               // of one host, or of all under a relay
inline constexpr int needs_max = 16;                      // of one application
inline constexpr int cores_max = 1 << 16;
inline constexpr double celsius_min = -30, celsius_max = 125;  // that a processor can have
inline constexpr double watts_max = 1000;                      // of a core
inline constexpr std::int64_t memory_bytes_max = std::int64_t{1} << 50;
// Requests of hosts that the server works on at a time; more are told to come again. Some thousand are done
// in a second, so that a stranger is never behind more than a tenth of a second's work, and nobody behind a
// second's.
inline constexpr int strangers_requests_under_way_max = 256;
inline constexpr int requests_under_way_max = 2000;
// The last places are for hosts that ask as seldom as a client does: beside 2,000 connections that ask
// without pause these were answered in half the time, and none was refused (tests/reports/load.md).
inline constexpr int frequent_requests_under_way_max = 512;
// Of these so many are worked on at a time, which suffices for large batches, so that nobody else waits
// behind more.
inline constexpr int frequent_requests_worked_on_max = 128;

// Planning
inline constexpr double plan_number_max = 1e12;      // w, z, tcp ...: their products stay far from overflow
inline constexpr int plan_nodes_max = 10'000;        // a plan takes a few seconds
inline constexpr int plan_depth_max = 64;            // relays of relays; every message passes all of them
inline constexpr int plan_optimum_nodes_max = 1000;  // the linear program takes seconds
inline constexpr std::int64_t plan_file_bytes_max = 4 << 20;   // 10,000 nodes with long names
inline constexpr std::int64_t instance_bytes_max = 256 << 20;  // a simulator's instance file
inline constexpr std::int64_t mapping_pairs_max =
    20'000'000;  // tasks * hosts of a batch: three tables, 480 MB
inline constexpr std::int64_t observations_per_host_max = 1000;  // of one problem: the thesis' ring buffer
inline constexpr std::int64_t observed_hosts_max = 2000;         // of one problem: 1000 each are some 300 MB
inline constexpr std::int64_t pooled_observations_max = 500;  // looked through for every host without its own

// Simulator
inline constexpr std::int64_t simulated_items_max = 10'000'000;  // of one paper-mode job: a counter each
inline constexpr std::size_t simulated_hosts_max = 10'000;       // of it: each request looks at all

// Load generator
inline constexpr std::int64_t loadgen_hosts_max = 2'000'000;      // some 200 bytes each
inline constexpr std::int64_t loadgen_connections_max = 200'000;  // some 30 kB each, and a descriptor

// Time
inline constexpr int request_seconds_max = 60;  // a stalled peer loses its connection
// Carries the next heartbeat, which comes each minute, at under 20 kB each; a handshake costs more.
inline constexpr int idle_connection_seconds_max = 90;
// As long a client uses one: it must not send a request just when the server closes.
inline constexpr int reused_connection_seconds_max = 80;
inline constexpr int manager_seconds_max = 60;  // one answer of a manager process
inline constexpr int job_wait_seconds_min =
    5;  // before what this machine did not let be done is tried again,
inline constexpr int job_wait_seconds_max = 320;  // doubled each time in vain: combining reads all of a stage
inline constexpr int retry_after_seconds_max = 3600;

}  // namespace gleaner::limits
